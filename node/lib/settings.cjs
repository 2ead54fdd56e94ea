'use strict';
// Made from xtask/schema.toml by make gen; do not edit.
// The settings of clients and workers: their names, and what the core gets. What the environment `said` counts where
// nothing is given.
const { millis } = require('./durations.cjs');

/** Seconds of a length of time, for the core. */
function seconds(name, value) {
  const length = millis(name, value);
  return length === undefined ? undefined : length / 1000;
}

/** Keys as the core reads them, `name:key,name:key`. */
function keyText(keys) {
  if (keys === undefined || typeof keys === 'string') return keys || undefined;
  return Object.entries(keys).map(([name, key]) => `${name}:${Buffer.from(key).toString('base64')}`).join(',');
}

const CLIENT = [
  'authToken', 'headers', 'tenant', 'timeout', 'connectTimeout', 'maxSends', 'caFile', 'clientCert',
  'encryptionKeys', 'maxResponseBytes', 'proxy',
];
const WORKER = [
  'queues', 'concurrency', 'workerId', 'heartbeatInterval', 'visibilityTimeout', 'gracePeriod', 'flushTimeout',
  'pollInterval', 'labels', 'releaseOnShutdown', 'unknownTypes', 'onlyRegisteredTypes',
];

const clientSettings = ({
  authToken, headers, tenant, timeout, connectTimeout, maxSends, caFile, clientCert, encryptionKeys,
  maxResponseBytes, proxy,
}, said) => ({
  auth_token: authToken ?? said.auth_token,
  headers: headers,
  tenant: tenant,
  timeout: seconds('timeout', timeout),
  connect_timeout: seconds('connectTimeout', connectTimeout),
  max_sends: maxSends,
  ca_file: caFile ?? said.ca_file,
  client_cert: clientCert ? [clientCert.cert, clientCert.key] : said.client_cert,
  encryption_keys: keyText(encryptionKeys) ?? said.encryption_keys,
  max_response_bytes: maxResponseBytes ?? said.max_response_bytes,
  proxy: proxy ?? said.proxy,
});

const workerSettings = ({
  workerId, heartbeatInterval, visibilityTimeout = 30_000, gracePeriod, flushTimeout, pollInterval, labels = [],
  releaseOnShutdown = true, unknownTypes, onlyRegisteredTypes = false,
}, said) => ({
  worker_id: workerId,
  heartbeat_interval: seconds('heartbeatInterval', heartbeatInterval),
  visibility_timeout: seconds('visibilityTimeout', visibilityTimeout),
  grace_period: seconds('gracePeriod', gracePeriod) ?? said.grace_period,
  flush_timeout: seconds('flushTimeout', flushTimeout),
  poll_interval: seconds('pollInterval', pollInterval),
  labels: labels,
  release_on_shutdown: releaseOnShutdown,
  unknown_types: unknownTypes,
  only_registered_types: onlyRegisteredTypes,
});

module.exports = { CLIENT, WORKER, clientSettings, workerSettings };
