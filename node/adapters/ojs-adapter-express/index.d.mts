import * as adapter from './index.cjs';
export * from './index.cjs';
export default adapter;
