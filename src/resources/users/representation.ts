/** The representation of a user: plain JSON, or HAL with the links that the caller may follow. */
import { admins, roles } from '../../http/access.ts';
import type { Links } from '../../http/hal/index.ts';
import { may, type RequestContext } from '../context.ts';
import { createPresenter } from '../crud/presenter.ts';
import { findRefusal } from './rules.ts';
import { toUser, type UserRow } from './store.ts';

export interface View extends RequestContext {
  /** The ids of all administrators; needed only for HAL. */
  readonly administrators: readonly number[];
}

export const presenter = createPresenter<UserRow, View>({
  placeOf: ({ id }) => ['users', id],
  representationOf: toUser,
  linksOf: buildLinks,
  changedAt: row => row.updated_at,
});

function buildLinks({ caller, administrators }: View, row: UserRow, self: string): Links {
  const writes = may(caller, admins, 'users:write', row.id);
  const mayEdit = writes && findRefusal(caller, row, row.role, administrators) === undefined;
  const mayRemove = may(caller, admins, 'users:write');
  const removable = mayRemove && findRefusal(caller, row, null, administrators) === undefined;
  return {
    ...(may(caller, roles, 'orders:read') ? { orders: { href: `${self}/orders` } } : {}),
    ...(mayEdit ? { edit: { href: self, method: 'PATCH' } as const } : {}),
    ...(removable ? { delete: { href: self, method: 'DELETE' } as const } : {}),
    ...(writes ? { passwordReset: { href: `${self}/password-reset`, method: 'POST' } as const } : {}),
    ...(mayEdit && row.verified_at === null
      ? { verify: { href: `${self}/verify`, method: 'POST' } as const }
      : {}),
  };
}
