/** Bulk PATCHes, which change all rows or none. Errors name the row that does not fit, and point into the body. */
import { z } from 'zod';
import type { Access } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type HandlerContext, type Output } from '../../http/endpoint.ts';
import {
  buildErrorDetail,
  type ErrorCode,
  type ErrorDetail,
  formatMessage,
  HttpError,
  moveDetail,
} from '../../http/errors.ts';
import { toMemberName } from '../../http/response/failure.ts';
import { type Reply, replyOk } from '../../http/response/reply.ts';
import { findMember } from '../../json-object.ts';
import { StorageError, type Transaction } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import { type BulkBody, buildBulkBody, type RowChange, toRowChanges } from './bulk-body.ts';

const result = z.object({ updated: z.int().min(0).max(500) }).meta({ id: 'BulkResult' });

interface Work<Update, Row, Old, Change> {
  /** The rows that exist, locked. */
  readonly rows: readonly Row[];
  /** Parses a row. @throws HttpError for a problem that is not specific to the row */
  read(row: Row, update: Update): Old;
  /** @throws HttpError if the change is not valid for this row */
  changeOf(row: Row, old: Old, update: Update): Change | Promise<Change>;
  write(changes: readonly Change[]): Promise<unknown>;
  /** Called once after all writes. */
  finish?(): Promise<unknown>;
}

interface Bulk<Update, Row, Old, Change> extends Work<Update, Row, Old, Change> {
  /** In the singular, for people: `product`. */
  readonly name: string;
  readonly entries: readonly RowChange<Update>[];
  /** Members whose values must be unique. */
  readonly unique: readonly string[];
}

interface BulkSpec<Params extends z.ZodObject | undefined, Update extends z.ZodObject, Row, Old, Change>
  extends Pick<Bulk<z.output<Update>, Row, Old, Change>, 'name' | 'unique'> {
  /** The path of the collection: `/products`. */
  readonly path: string;
  readonly params?: Params;
  /** The end of the ids of the operation and of its body: `Products`. */
  readonly id: string;
  /** The rows, for people, in the plural: `variants of a product`. */
  readonly items: string;
  /** The text of the description after `Changes all or none`. */
  readonly description: string;
  readonly tag: string;
  readonly access: Access;
  /** The members to set, as in a PATCH of one. */
  readonly patch: { readonly schema: Update; readonly example: object };
  /** The representation of one row. */
  readonly schema: z.ZodType;
  readonly errors: readonly ErrorCode[];
  begin(
    session: Transaction,
    context: HandlerContext<Output<Params>, undefined, BulkBody<z.output<Update>>>,
    ids: readonly number[],
  ): Promise<Work<z.output<Update>, Row, Old, Change>>;
}

/** PATCH of a collection: the same change to many rows, or a change for each. */
export function createBulkEndpoint<
  Row extends { readonly id: number },
  Old,
  Change,
  Update extends z.ZodObject,
  Params extends z.ZodObject | undefined = undefined,
>(spec: BulkSpec<Params, Update, Row, Old, Change>): Endpoint {
  const { path, params, id, items, name, tag, access, patch, unique, errors } = spec;
  type Sent = z.output<Update>;
  // Boundary: Zod cannot infer the output of a schema that is built from a generic one.
  const schema = buildBulkBody(patch.schema, `BulkPatch${id}`) as unknown as z.ZodType<BulkBody<Sent>>;
  const one = z.object({ update: spec.schema });
  return createEndpoint({
    method: 'PATCH',
    path,
    operationId: `bulkPatch${id}`,
    summary: `Change many ${items} at once`,
    description: `Changes all or none: \`ids\` with the same \`update\`, or, in \`updates\`, each with its own. ${spec.description}`,
    tag,
    access,
    ...(params === undefined ? {} : { params }),
    body: { kind: 'json', schema, example: { ids: [1, 2, 3], update: patch.example } },
    responses: {
      200: {
        description: `The number of changed ${id.toLowerCase()}.`,
        schema: result,
        representation: one.extend({ updates: z.array(one) }),
        example: { updated: 3 },
      },
    },
    errors,
    handle(context) {
      const { body, write } = context;
      const entries = toRowChanges(body);
      const ids = entries.map(({ id }) => id);
      return write(async session =>
        changeTogether({ name, unique, entries, ...(await spec.begin(session, context, ids)) }),
      );
    },
  });
}

/**
 * Changes all rows or none.
 * @throws HttpError with its fields below `update`, naming the row; 409 for a unique value that several rows would have
 */
async function changeTogether<Update extends object, Row extends { readonly id: number }, Old, Change>(
  bulk: Bulk<Update, Row, Old, Change>,
): Promise<Reply> {
  const { name, entries, unique } = bulk;
  const rows = new Map(bulk.rows.map(row => [row.id, row]));
  const planned: { readonly entry: RowChange<Update>; readonly change: Change }[] = [];
  for (const entry of entries) {
    const { id, update } = entry;
    const row = rows.get(id);
    if (row === undefined) continue;
    await takeTurn();
    const old = bulk.read(row, update);
    planned.push({ entry, change: await changeOne(name, entry, () => bulk.changeOf(row, old, update)) });
  }
  refuseShared(
    bulk,
    planned.map(({ entry }) => entry),
  );
  const isAlone = ({ update }: RowChange<object>) =>
    planned.length === 1 || unique.some(member => Object.hasOwn(update, member));
  // An error of these concerns no particular row.
  const together = planned.filter(({ entry }) => !isAlone(entry));
  if (together.length > 0) await bulk.write(together.map(({ change }) => change));
  for (const { entry, change } of planned)
    if (isAlone(entry))
      await changeOne(name, entry, () => writeNamingMember(entry.update, () => bulk.write([change])));
  if (planned.length > 0) await bulk.finish?.();
  return replyOk({ updated: planned.length });
}

async function changeOne<T>(name: string, entry: RowChange<unknown>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof HttpError ? toBodyError(error, name, entry) : error;
  }
}

/** @throws HttpError 409 for a unique value that several rows would have */
function refuseShared(
  { name, unique }: Pick<Bulk<object, unknown, unknown, unknown>, 'name' | 'unique'>,
  entries: readonly RowChange<object>[],
): void {
  const details: ErrorDetail[] = [];
  for (const member of unique) {
    const had = new Map<string, number>();
    for (const { id, update, path } of entries) {
      const value = findMember(update, member) ?? null;
      if (value === null) continue;
      const text = JSON.stringify(value);
      const other = had.get(text);
      had.set(text, id);
      if (other === undefined) continue;
      const message = `must be unique: ${name} ${other} and ${name} ${id} cannot both have it`;
      details.push(buildErrorDetail([...path, member], 'unique', message));
      break;
    }
  }
  if (details.length > 0) throw createDuplicateError(details);
}

/** Writes one row. @throws HttpError 409 naming the member of `update` whose value another row has */
async function writeNamingMember<T>(update: object, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const isTaken = error instanceof StorageError && error.kind === 'unique';
    const member = isTaken ? toMemberName(error.column ?? '') : '';
    if (!Object.hasOwn(update, member)) throw error;
    throw createDuplicateError([buildErrorDetail([member], 'unique', 'must be unique')], error);
  }
}

const createDuplicateError = (details: readonly ErrorDetail[], cause?: unknown): HttpError =>
  new HttpError('DUPLICATE', { message: formatMessage(details), details, cause });

function toBodyError(
  { code, message, details, headers, cause }: HttpError,
  name: string,
  { id, path }: RowChange<unknown>,
): HttpError {
  const which = `(of ${name} ${id})`;
  const located = details?.map(detail => {
    const moved = path.reduceRight((inner: ErrorDetail, step) => moveDetail(inner, String(step)), detail);
    return { ...moved, message: `${detail.message} ${which}` };
  });
  if (located === undefined) return new HttpError(code, { message: `${message} ${which}`, headers, cause });
  return new HttpError(code, { message: formatMessage(located), details: located, headers, cause });
}
