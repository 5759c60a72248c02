/** The operations of the published document, which the generic scenarios walk. */

import { startTestService } from '../service/service.ts';
import { contractAt, type Operation } from './contract.ts';

/** Read before the tests are named: the operations are the scenarios. */
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
/** @throws Error for none: scenarios of no operation would pass */
export function named(chosen: readonly Operation[]) {
  if (chosen.length === 0) throw new Error('no operation of the document is chosen');
  return chosen.map(operation => [nameOf(operation), operation] as const);
}
export const guarded = operations.filter(({ isPublic }) => !isPublic);
/** What changes something for people: programs with API keys are looked up with every request anyway. */
export const changing = guarded.filter(({ method, roles }) => method !== 'GET' && roles.length > 0);
export const withBody = operations.filter(({ body }) => body !== undefined);
export const conditional = operations.filter(
  ({ method, responses }) => method === 'GET' && '304' in responses,
);

// The tokens of mails are good once, and the example of an event is one that changes nothing.
const doingNothing = ['resetPassword', 'verifyAddress', 'restoreAddress', 'receiveStripeEvent'];
export const performing = operations.filter(
  ({ method, operationId }) => method !== 'GET' && !doingNothing.includes(operationId),
);
/** Conditions under which nothing is to be done. */
export const neverHolding = [
  { 'If-Match': '"never"' },
  { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
] as const;
