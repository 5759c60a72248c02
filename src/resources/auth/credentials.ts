/** Whether the credentials of a request are still valid in the transaction that relies on them. */
import {
  type Authenticator,
  createEndedSessionsError,
  createOutdatedTokenError,
  createUnauthorizedError,
} from '../../http/access.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Database } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';

/**
 * One read by primary key, without a lock: a write that commits first counts as made before the change. Anything else
 * that a change must revoke, such as sessions, is written under a lock of the account.
 */
export function createConfirmation(
  { build }: Pick<Database, 'build'>,
  clock: Clock,
): Authenticator['confirm'] {
  const standingOf = prepareQuery<{ id: number }, { role: string; session_generation: number }>(
    build,
    argument =>
      build.selectFrom('users').select(['role', 'session_generation']).where('id', '=', argument.id),
  );
  const expiryOf = prepareQuery<{ id: number }, { expires_at: number | null }>(build, argument =>
    build.selectFrom('api_keys').select('expires_at').where('id', '=', argument.id),
  );
  return async (session, caller) => {
    if (caller.kind === 'user') {
      const user = await session.first(standingOf({ id: caller.userId }));
      if (user === undefined) throw createUnauthorizedError('UNAUTHORIZED');
      if (user.role !== caller.role) throw createOutdatedTokenError();
      if (caller.generation < user.session_generation) throw createEndedSessionsError();
    } else if (caller.kind === 'key') {
      const key = await session.first(expiryOf({ id: caller.keyId }));
      const isOver = key === undefined || (key.expires_at !== null && key.expires_at <= clock.now());
      if (isOver) throw createUnauthorizedError(undefined);
    }
  };
}
