import adapter from './index.cjs';

export default adapter;
export const { RequestOjs, instrument, ojsMiddleware, requestContext, transaction } = adapter;
