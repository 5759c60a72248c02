/** A user as the caller sees them: plain JSON, or HAL with the links that lead somewhere for them. */
import { admins, roles } from '../../http/access.ts';
import { addressOf } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, isHal, type Links, withSelf } from '../../http/hal/index.ts';
import { ok, type ReplyOptions } from '../../http/response/reply.ts';
import { may, type RequestContext } from '../context.ts';
import { refusal } from './rules.ts';
import { type UserRow, userOf } from './store.ts';

export interface View extends RequestContext {
  /** All there are; needed for HAL only. */
  readonly administrators: readonly number[];
}

/** The body of a response that shows a user, as JSON text: also what If-Match compares with. */
export function userBody(row: UserRow, view: View): string {
  const user = userOf(row);
  return JSON.stringify(isHal(view.mediaType) ? hal(user, linksTo(row, view)) : user);
}

/** What goes with that body. */
export const optionsFor = (row: UserRow, { mediaType }: View): ReplyOptions =>
  datedUnlessHal(mediaType, row.updated_at);

export const showUser = (row: UserRow, view: View) => ok(userBody(row, view), optionsFor(row, view));

function linksTo(row: UserRow, { caller, url, administrators }: View): Links {
  const self = addressOf(url, 'users', row.id);
  const writes = may(caller, admins, 'users:write', row.id);
  const mayEdit = writes && refusal(caller, row, row.role, administrators) === undefined;
  const mayRemove = may(caller, admins, 'users:write');
  const removable = mayRemove && refusal(caller, row, null, administrators) === undefined;
  return withSelf(self, {
    ...(may(caller, roles, 'orders:read') ? { orders: { href: `${self}/orders` } } : {}),
    ...(mayEdit ? { edit: { href: self, method: 'PATCH' } as const } : {}),
    ...(removable ? { delete: { href: self, method: 'DELETE' } as const } : {}),
    ...(writes ? { passwordReset: { href: `${self}/password-reset`, method: 'POST' } as const } : {}),
    ...(mayEdit && row.verified_at === null
      ? { verify: { href: `${self}/verify`, method: 'POST' } as const }
      : {}),
  });
}
