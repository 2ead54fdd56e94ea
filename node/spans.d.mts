import * as spans from './spans.cjs';
export * from './spans.cjs';
export default spans;
