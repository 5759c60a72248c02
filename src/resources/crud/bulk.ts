/** What bulk PATCHes have in common. Their errors say which one does not fit, and point into the body that was sent. */
import { buildErrorDetail, type ErrorDetail, formatMessage, HttpError } from '../../http/errors.ts';
import { type Reply, replyOk } from '../../http/response/reply.ts';
import { createSlices } from '../../slices.ts';
import { StorageError } from '../../storage/database.ts';

/** What is changed, as errors name it: product 5. */
interface One {
  readonly name: string;
  readonly id: number;
}

interface Bulk<Row, Old, Change> {
  /** In the singular, for people: `product`. */
  readonly name: string;
  /** Those there are, locked. */
  readonly rows: readonly Row[];
  readonly update: object;
  /** Members of `update` that no two may have. */
  readonly unique: readonly string[];
  /** Reads one. @throws HttpError for what concerns all of them */
  read(row: Row): Old;
  /** @throws HttpError for what it cannot become */
  changeOf(row: Row, old: Old): Change | Promise<Change>;
  write(changes: readonly Change[]): Promise<readonly unknown[]>;
}

/**
 * Changes many, all or none.
 * @throws HttpError with its fields below `update`, saying of which one it is; 409 for a value that several would have
 */
export async function changeTogether<Row extends { readonly id: number }, Old, Change>(
  bulk: Bulk<Row, Old, Change>,
): Promise<Reply> {
  const { name, rows } = bulk;
  const changes: Change[] = [];
  const { turn } = createSlices();
  for (const row of rows) {
    await turn();
    const old = bulk.read(row);
    changes.push(await changeOne({ name, id: row.id }, () => bulk.changeOf(row, old)));
  }
  refuseShared(bulk);
  const [only, another] = rows;
  const write = () => bulk.write(changes);
  // It fails for one that is changed alone, or for none in particular: what several cannot have has been refused.
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

/** @throws HttpError 409 for a value that several would have and only one may */
function refuseShared({ name, rows, update, unique }: Shared): void {
  const [first, second] = rows;
  if (first === undefined || second === undefined) return;
  const values = new Map<string, unknown>(Object.entries(update));
  const shared = unique.filter(member => values.get(member) != null);
  if (shared.length === 0) return;
  const message = `must be unique: ${name} ${first.id} and ${name} ${second.id} cannot both have it`;
  throw createDuplicateError(shared.map(member => buildErrorDetail(['update', member], 'unique', message)));
}

/** Writes one. @throws HttpError 409 that names the member of `update` whose value another has */
async function writeNamingMember<T>(update: object, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const member = error instanceof StorageError && error.kind === 'unique' ? toMemberName(error) : '';
    if (!Object.hasOwn(update, member)) throw error;
    throw createDuplicateError([buildErrorDetail([member], 'unique', 'must be unique')], error);
  }
}

/** Columns are written external_id, members externalId. */
const toMemberName = ({ column = '' }: StorageError): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const createDuplicateError = (details: readonly ErrorDetail[], cause?: unknown): HttpError =>
  new HttpError('DUPLICATE', { message: formatMessage(details), details, cause });

function toBodyError({ code, message, details, headers, cause }: HttpError, { name, id }: One): HttpError {
  const which = `(of ${name} ${id})`;
  const located = details?.map(detail => ({
    ...detail,
    field: detail.pointer === '#' ? 'update' : `update.${detail.field}`,
    pointer: `#/update${detail.pointer.slice(1)}`,
    message: `${detail.message} ${which}`,
  }));
  if (located === undefined) return new HttpError(code, { message: `${message} ${which}`, headers, cause });
  return new HttpError(code, { message: formatMessage(located), details: located, headers, cause });
}
