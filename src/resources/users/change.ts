/** Changes a user over HTTP, for both PUT and PATCH. */
import { type Caller, createOutdatedTokenError } from '../../http/access.ts';
import type { HandlerContext } from '../../http/endpoint.ts';
import { createFieldError } from '../../http/errors.ts';
import { isHal } from '../../http/hal/index.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import { type RequireProven, refuseUnproven } from '../auth/guard.ts';
import type { RequestContext } from '../context.ts';
import type { Stores } from '../stores.ts';
import { presenter, type View } from './representation.ts';
import { findRefusal, requireSelf, requireVisible } from './rules.ts';
import type * as schema from './schema.ts';
import { type StoredUser, toEmailKey, toUser, type UserStore } from './store.ts';

type Changing = RequestContext &
  Pick<
    HandlerContext<unknown, unknown, unknown>,
    'precondition' | 'cause' | 'write' | 'showQuota' | 'address'
  >;

/** Reads the data that the links of a representation depend on. */
export async function readView(
  session: Session,
  users: UserStore,
  { caller, url, mediaType }: RequestContext,
): Promise<View> {
  const administrators = isHal(mediaType) ? await users.administrators(session) : [];
  return { caller, url, mediaType, administrators };
}

/** Locks all administrators. @throws HttpError 401 if the caller is no longer one, or has no sessions any more */
export async function lockAdministrators(
  session: Session,
  users: UserStore,
  caller: Caller,
): Promise<number[]> {
  if (caller.kind !== 'user' || caller.role !== 'admin') return [];
  const administrators = await users.lockAdministrators(session);
  // The lock came after the caller was confirmed: the role or the password may have been changed in between.
  if (!administrators.includes(caller.userId)) throw createOutdatedTokenError();
  await requireSelf(caller, id => users.find(session, id));
  return administrators;
}

/**
 * Locks all administrators and then the user who is changed, or deleted.
 * @throws HttpError 401, 404, and 412 if the user is not as the request's condition says
 */
export async function lockForChange(
  session: Transaction,
  users: UserStore,
  id: number,
  context: RequestContext & Pick<Changing, 'precondition'>,
): Promise<{ before: StoredUser; administrators: number[] }> {
  const { caller } = context;
  const administrators = await lockAdministrators(session, users, caller);
  const before = requireVisible(await users.lock(session, id), id, caller);
  const view = await readView(session, users, context);
  context.precondition(() => presenter.body(view, before), before.updated_at);
  return { before, administrators };
}

/** @returns a function that sets the fields of a user to the result of `fieldsOf`, called with the current user */
export function createUserChange({ database, users, sessions, addresses, proof }: Stores) {
  const hasNewEmail = (email: string, fields: schema.ChangedFields) =>
    toEmailKey(fields.email) !== toEmailKey(email);
  const isOwner = (caller: Caller, id: number) => caller.kind === 'user' && caller.userId === id;

  /**
   * Requires the password from users who change their own address: a stolen access token must not be enough to take
   * over an account.
   * @returns the check of the transaction, which fails if the address changes and no password was required
   * @throws HttpError 400 without a password, 403 for a wrong one, and the errors of the change itself
   */
  async function requirePassword(
    id: number,
    context: Changing,
    fieldsOf: (current: schema.User) => schema.ChangedFields,
  ): Promise<RequireProven> {
    const user = isOwner(context.caller, id) ? await users.find(database.read, id) : undefined;
    if (user === undefined) return refuseUnproven;
    const view = await readView(database.read, users, context);
    context.precondition(() => presenter.body(view, user), user.updated_at);
    const fields = fieldsOf(toUser(user));
    if (!hasNewEmail(user.email, fields)) return refuseUnproven;
    if (fields.currentPassword === undefined) throw createPasswordRequiredError();
    return proof(context, user, fields.currentPassword);
  }

  return async (
    id: number,
    context: Changing,
    fieldsOf: (current: schema.User) => schema.ChangedFields,
  ): Promise<Reply> => {
    const requireProven = await requirePassword(id, context, fieldsOf);
    return context.write(async session => {
      const { caller } = context;
      const { before, administrators } = await lockForChange(session, users, id, context);
      const fields = fieldsOf(toUser(before));
      const refused = findRefusal(caller, before, fields.role, administrators);
      if (refused !== undefined) throw refused;
      const cause = context.cause();
      const isPending = isOwner(caller, id) && hasNewEmail(before.email, fields);
      if (isPending) requireProven(before);
      const set = isPending ? { ...fields, email: before.email, pendingEmail: fields.email } : fields;
      const after = await users.update(session, before, set, cause);
      if (after.role !== before.role) await sessions.removeAllOf(session, id, cause.at);
      if (isPending) await addresses.request(session, after, cause);
      else if (hasNewEmail(before.email, fields))
        await addresses.replaced(session, before, after, caller, cause);
      return presenter.shown(await readView(session, users, context), after);
    });
  };
}

const createPasswordRequiredError = () =>
  createFieldError('currentPassword', 'required', 'is required to change your own e-mail address');
