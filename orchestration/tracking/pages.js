// Runs before MLflow's own scripts on the page that `gonn ui` serves; pages.py says what for, and sets GONN.
(() => {
  const once = {
    "mlflow.workflowType_v1": '"machine_learning"',
    "mlflow.settings.telemetry.enabled_v1": "false",
    "mlflow.telemetry.info.alert.dismissed_v1": "true",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true",
  };
  for (const [key, value] of Object.entries(once))
    if (localStorage.getItem(key) === null) localStorage.setItem(key, value);

  // Colours of groups as MLflow read them, which it does once, when its page is loaded.
  const stored = () => JSON.parse(localStorage.getItem("experimentRunColors") || "{}");
  let read = null, unread = false;

  // The address of our view of an experiment, null for an experiment that has none.
  function ours(id) {
    const request = new XMLHttpRequest();
    request.open("GET", "ajax-api/2.0/mlflow/experiments/get?experiment_id=" + id, false);
    try { request.send(); } catch (error) { return null; }
    if (request.status !== 200) return null;
    const tags = Object.fromEntries((JSON.parse(request.responseText).experiment.tags || []).map(t => [t.key, t.value]));
    if (!(GONN.shared in tags)) return null;
    const arms = Object.entries(JSON.parse(tags[GONN.colours] || "{}")).map(([arm, colour]) => ["tag.arm." + arm, colour]);
    localStorage.setItem("experimentRunColors", JSON.stringify({ ...stored(), ...Object.fromEntries(arms) }));
    unread = read !== null && arms.some(([group, colour]) => read[group] !== colour);
    return "#/experiments/" + id + "/runs?" + GONN.view;
  }

  const experiment = hash => (/^#\/experiments\/(\d+)(?:\/runs)?(?:$|[?])/.exec(hash) || [])[1];
  const bare = hash => /^#\/experiments\/\d+(?:[?]workflowType=\w+)?$/.test(hash);

  // MLflow takes a shared view from an address that names nothing else, and writes what it took into the address: a page
  // that is loaded again would come without.
  const taken = hash => hash.includes("?" + GONN.view + "&");

  function enter(event) {
    const id = experiment(location.hash), address = id && ours(id);
    if (address && (bare(location.hash) || (!event && taken(location.hash)))) location.replace(address);
    if (unread) location.reload();
  }
  enter();
  read = stored();
  addEventListener("hashchange", enter);
  document.addEventListener("click", event => {
    const link = event.target instanceof Element && event.target.closest("a[href]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const hash = new URL(link.href, location.href).hash, address = bare(hash) && ours(experiment(hash));
    if (!address) return;
    event.preventDefault();
    event.stopPropagation();
    location.hash = address;
    if (unread) location.reload();
  }, true);
})();
