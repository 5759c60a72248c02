/** What a representation depends on in a request: the address, the caller and the media type. */
import type { Caller, Role } from '../http/access.ts';
import type { RequestUrl } from '../http/endpoint.ts';

export interface RequestContext {
  readonly url: RequestUrl;
  readonly caller: Caller;
  readonly mediaType: string;
}

/**
 * Whether the caller has one of these roles, is a key with this scope, or is the owner, if there is one.
 * @param scope undefined if the scope of the operation, already checked, is enough
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
