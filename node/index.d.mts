import * as sdk from './index.cjs';
export * from './index.cjs';
export default sdk;
