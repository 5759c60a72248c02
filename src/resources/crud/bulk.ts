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
import { StorageError, type Transaction } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';

/** The ids of the rows to change, without duplicates. */
const ids = z
  .array(z.int())
  .min(1)
  .max(500)
  .refine(ids => new Set(ids).size === ids.length, {
    error: 'must not name an id twice',
    params: { rule: 'uniqueItems' },
  })
  .meta({ uniqueItems: true });

/** The schema of a body. @param update the members to set @param id of the schema */
export const buildBulkBody = <Update extends z.ZodObject>(update: Update, id: string) =>
  z.object({ ids, update }).meta({ id });

const result = z.object({ updated: z.int().min(0).max(500) }).meta({ id: 'BulkResult' });

/** A row, as errors name it: product 5. */
interface One {
  readonly name: string;
  readonly id: number;
}

/** The work of one request. */
interface Work<Row, Old, Change> {
  /** The rows that exist, locked. */
  readonly rows: readonly Row[];
  /** Parses a row. @throws HttpError for a problem that is not specific to the row */
  read(row: Row): Old;
  /** @throws HttpError if the change is not valid for this row */
  changeOf(row: Row, old: Old): Change | Promise<Change>;
  write(changes: readonly Change[]): Promise<readonly unknown[]>;
}

interface Bulk<Row, Old, Change> extends Work<Row, Old, Change> {
  /** In the singular, for people: `product`. */
  readonly name: string;
  readonly update: object;
  /** Members of `update` whose values must be unique. */
  readonly unique: readonly string[];
}

interface BulkSpec<Params extends z.ZodObject | undefined, Update extends z.ZodObject, Row, Old, Change>
  extends Pick<Bulk<Row, Old, Change>, 'name' | 'unique'> {
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
  /** The members to set, the same for all rows, as in a PATCH of one. */
  readonly patch: { readonly schema: Update; readonly example: object };
  /** The representation of one row. */
  readonly schema: z.ZodType;
  readonly errors: readonly ErrorCode[];
  begin(
    session: Transaction,
    context: HandlerContext<Output<Params>, undefined, BulkBody<Update>>,
  ): Promise<Work<Row, Old, Change>>;
}

interface BulkBody<Update extends z.ZodObject> {
  readonly ids: readonly number[];
  readonly update: z.output<Update>;
}

/** PATCH of a collection: the same change to many rows. */
export function createBulkEndpoint<
  Row extends { readonly id: number },
  Old,
  Change,
  Update extends z.ZodObject,
  Params extends z.ZodObject | undefined = undefined,
>(spec: BulkSpec<Params, Update, Row, Old, Change>): Endpoint {
  const { path, params, id, items, name, tag, access, patch, unique, errors } = spec;
  // Boundary: Zod cannot infer the output of a schema that is built from a generic one.
  const schema = buildBulkBody(patch.schema, `BulkPatch${id}`) as unknown as z.ZodType<BulkBody<Update>>;
  return createEndpoint({
    method: 'PATCH',
    path,
    operationId: `bulkPatch${id}`,
    summary: `Change many ${items} at once`,
    description: `Changes all or none. ${spec.description}`,
    tag,
    access,
    ...(params === undefined ? {} : { params }),
    body: { kind: 'json', schema, example: { ids: [1, 2, 3], update: patch.example } },
    responses: {
      200: {
        description: `The number of changed ${id.toLowerCase()}.`,
        schema: result,
        representation: z.object({ update: spec.schema }),
        example: { updated: 3 },
      },
    },
    errors,
    handle(context) {
      const { body, write } = context;
      return write(async session =>
        changeTogether({ name, unique, update: body.update, ...(await spec.begin(session, context)) }),
      );
    },
  });
}

/**
 * Changes all rows or none.
 * @throws HttpError with its fields below `update`, naming the row; 409 for a unique value that several rows would have
 */
async function changeTogether<Row extends { readonly id: number }, Old, Change>(
  bulk: Bulk<Row, Old, Change>,
): Promise<Reply> {
  const { name, rows } = bulk;
  const changes: Change[] = [];
  for (const row of rows) {
    await takeTurn();
    const old = bulk.read(row);
    changes.push(await changeOne({ name, id: row.id }, () => bulk.changeOf(row, old)));
  }
  refuseShared(bulk);
  const [only, another] = rows;
  const write = () => bulk.write(changes);
  // An error concerns the only row, or no particular row: values that several rows cannot share were refused above.
  const written =
    only === undefined || another !== undefined
      ? await write()
      : await changeOne({ name, id: only.id }, () => writeNamingMember(bulk.update, write));
  return replyOk({ updated: written.length });
}

async function changeOne<T>(one: One, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof HttpError ? toBodyError(error, one) : error;
  }
}

type Shared = Pick<Bulk<{ readonly id: number }, unknown, unknown>, 'name' | 'rows' | 'update' | 'unique'>;

/** @throws HttpError 409 for a unique value that several rows would have */
function refuseShared({ name, rows, update, unique }: Shared): void {
  const [first, second] = rows;
  if (first === undefined || second === undefined) return;
  const values = new Map<string, unknown>(Object.entries(update));
  const shared = unique.filter(member => values.get(member) != null);
  if (shared.length === 0) return;
  const message = `must be unique: ${name} ${first.id} and ${name} ${second.id} cannot both have it`;
  throw createDuplicateError(shared.map(member => buildErrorDetail(['update', member], 'unique', message)));
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

function toBodyError({ code, message, details, headers, cause }: HttpError, { name, id }: One): HttpError {
  const which = `(of ${name} ${id})`;
  const located = details?.map(detail => ({
    ...moveDetail(detail, 'update'),
    message: `${detail.message} ${which}`,
  }));
  if (located === undefined) return new HttpError(code, { message: `${message} ${which}`, headers, cause });
  return new HttpError(code, { message: formatMessage(located), details: located, headers, cause });
}
