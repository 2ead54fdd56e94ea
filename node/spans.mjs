// One implementation for both kinds of modules, as in index.mjs.
import spans from './lib/spans.cjs';

export default spans;
export const { Spans } = spans;
