/** The operations of the published document, over which the generic scenarios iterate. */

import { startTestService } from '../service/service.ts';
import { contractAt, type Operation } from './contract.ts';

/** Read at load time, because the names of the scenarios are those of the operations. */
export const operations = await (async () => {
  const service = await startTestService('sqlite');
  const contract = await contractAt(service.url);
  await service.stop();
  return contract.operations;
})();
export const paths = [...Map.groupBy(operations, ({ path }) => path)].map(([path, declared]) => ({
  path,
  declared,
}));
export const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
/** @throws Error when there are none, since a scenario without operations would pass */
export function named(chosen: readonly Operation[]) {
  if (chosen.length === 0) throw new Error('no operation of the document is chosen');
  return chosen.map(operation => [nameOf(operation), operation] as const);
}
export const guarded = operations.filter(({ isPublic }) => !isPublic);
/** Operations by which users change something: API keys, in contrast, are looked up with every request anyway. */
export const changing = guarded.filter(({ method, roles }) => method !== 'GET' && roles.length > 0);
export const withBody = operations.filter(({ body }) => body !== undefined);
export const conditional = operations.filter(
  ({ method, responses }) => method === 'GET' && '304' in responses,
);

// Tokens from mails work only once, and the example of a Stripe event changes nothing.
const doingNothing = ['resetPassword', 'verifyAddress', 'restoreAddress', 'receiveStripeEvent'];
export const performing = operations.filter(
  ({ method, operationId }) => method !== 'GET' && !doingNothing.includes(operationId),
);
/** Preconditions that never hold. */
export const neverHolding = [
  { 'If-Match': '"never"' },
  { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
] as const;
