'use strict';
// An OJS server in this process: for tests, and for `npx ojs server`.
const binding = require('./native.cjs');
const { setInterval } = require('node:timers');
const { known } = require('./calls.cjs');
const { loop } = require('./loop.cjs');

const SETTINGS = ['store', 'listen', 'testMode', 'keys', 'insecure'];

class OJSServer {
  #core = new binding.Server();
  #alive;

  /** Opens the store and listens; port 0 takes a free one. Keeps the process alive until stop(). `keys`: a file of keys to ask for. */
  static async start(options = {}) {
    const { store = 'memory:', listen = '127.0.0.1:0', testMode = false, keys, insecure = true } = known('setting', options, SETTINGS);
    const server = new OJSServer();
    server.url = await loop().call((replies, ticket) => server.#core.start(replies, ticket, store, listen, testMode, keys, insecure));
    server.#alive = setInterval(() => {}, 0x7fffffff);
    return server;
  }

  /** Answers requests under way and closes the store. A second call does nothing. */
  async stop() {
    clearInterval(this.#alive);
    await loop().call((replies, ticket) => this.#core.stop(replies, ticket));
  }
}

module.exports = { OJSServer };
