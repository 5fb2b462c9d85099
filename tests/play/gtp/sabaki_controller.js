// Plays Sabaki's part: its own GTP client drives an engine through what its user does. Prints what came of it as JSON.
//   node sabaki_controller.js PROGRAM ARGUMENT…        with @sabaki/gtp on NODE_PATH
const {ControllerStateTracker} = require('@sabaki/gtp')

async function main() {
  const [program, ...args] = process.argv.slice(2)
  const tracker = ControllerStateTracker.fromController(program, args)
  const {controller} = tracker
  const seen = {}
  const send = (name, ...words) => tracker.queueCommand({name, args: words})
  const play = (color, vertex) => ({name: 'play', args: [color, vertex]})
  const moves = async () => (await send('showboard')).content.match(/move \d+, \w+ to move/)[0]
  const mainLine = [play('B', 'Q16'), play('W', 'D4'), play('B', 'Q4'), play('W', 'D16')]

  controller.start()
  // As Sabaki does at its start: all at once, without waiting for answers.
  seen.start = (await Promise.all(['name', 'version', 'protocol_version', 'list_commands'].map(name => controller.sendCommand({name})))).map(r => r.content)

  await tracker.sync({komi: 6.5, boardsize: [19, 19], history: mainLine})
  seen.main = await moves()
  // Another variation: the tracker takes back two moves and plays on.
  await tracker.sync({komi: 6.5, boardsize: [19, 19], history: [...mainLine.slice(0, 3), play('W', 'K10'), play('B', 'K4')]})
  seen.variation = await moves()
  seen.generated = (await send('genmove', 'W')).content
  seen.tracked = tracker.state.history.length
  // A game with handicap and setup stones, which Sabaki sends as moves of one colour.
  await tracker.sync({komi: 0.5, boardsize: [19, 19], history: [{name: 'set_free_handicap', args: ['D4', 'Q16', 'Q4']}, play('W', 'K10'), play('W', 'K11')]})
  seen.handicap = await moves()
  seen.small = await tracker.sync({komi: 0.5, boardsize: [9, 9], history: []}).then(() => 'taken', error => error.message)

  // Analysis streams until Sabaki sends something else.
  const lines = []
  const analysis = controller.sendCommand({name: 'analyze', args: ['B', '50']}, ({line}) => lines.push(line))
  while (!lines.some(line => line.startsWith('info '))) await new Promise(resolve => setTimeout(resolve, 20))
  seen.busy = controller.busy
  const abort = controller.sendCommand({name: 'protocol_version'})
  seen.analysisError = (await analysis).error
  seen.abort = (await abort).content
  seen.analysis = lines.find(line => line.startsWith('info '))

  // The same in the words of Leela Zero and KataGo, and moves that are generated with their analysis.
  seen.others = {}
  for (const name of ['lz-analyze', 'kata-analyze']) {
    const heard = []
    const running = controller.sendCommand({name, args: ['B', '10']}, ({line}) => heard.push(line))
    while (heard.filter(line => line.startsWith('info ')).length < 2) await new Promise(resolve => setTimeout(resolve, 20))
    const next = controller.sendCommand({name: 'protocol_version'})
    await Promise.all([running, next])
    seen.others[name] = heard.find(line => line.startsWith('info '))
  }
  const before = tracker.state.history.length
  const generated = await send('genmove_analyze', 'B', '50')
  seen.generatedWithAnalysis = [generated.content.split('\n').pop(), tracker.state.history.length - before]

  seen.errors = []
  for (const [name, ...words] of [['nonsense'], ['play', 'B', 'Z99'], ['play', 'B', 'D4'], ['genmove', 'green'], ['komi', 'many']]) {
    const response = await send(name, ...words)
    seen.errors.push([response.error, response.content])
  }
  seen.numbered = await controller.sendCommand({id: 17, name: 'name'})
  const exit = new Promise(resolve => controller.process.once('exit', resolve))
  await controller.stop(20000)
  seen.exit = await exit
  console.log(JSON.stringify(seen))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
