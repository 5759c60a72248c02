/** What of a request decides how a resource is shown: at which address, to whom, and as what. */
import type { Caller, Role } from '../http/access.ts';
import type { RequestUrl } from '../http/endpoint.ts';

export interface RequestContext {
  readonly url: RequestUrl;
  readonly caller: Caller;
  readonly mediaType: string;
}

/**
 * Whether the caller is of one of these roles, a key with this scope, or the owner, where there is one.
 * @param scope undefined where the operation's own is enough, which has been checked
 */
export function may(
  caller: Caller,
  roles: readonly Role[],
  scope: string | undefined,
  owner?: number,
): boolean {
  if (caller.kind === 'user') return caller.userId === owner || roles.includes(caller.role);
  return caller.kind === 'key' && (scope === undefined || caller.scopes.has(scope));
}
