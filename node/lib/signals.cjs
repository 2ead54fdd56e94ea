'use strict';
// Signals of a worker process: TERM and INT stop it (the second one at once), TSTP makes it quiet, CONT resumes it.

/** Listens; the returned function ends that. Worker threads get no signals: there it does nothing. */
function onSignals(worker) {
  const running = (action) => () => worker.state !== 'new' && worker.id !== undefined && action();
  const actions = {
    SIGTERM: () => worker.shutdown(),
    SIGINT: () => worker.shutdown(),
    SIGTSTP: running(() => worker.quiet()),
    SIGCONT: running(() => worker.resume()),
  };
  for (const [name, action] of Object.entries(actions)) process.on(name, action);
  return () => {
    for (const [name, action] of Object.entries(actions)) process.off(name, action);
  };
}

module.exports = { onSignals };
