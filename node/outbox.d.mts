import * as outbox from './outbox.cjs';
export * from './outbox.cjs';
export default outbox;
