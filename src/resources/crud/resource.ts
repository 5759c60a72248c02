/** The types of resources and their operations, for index.ts. */
import type { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import type { Access, Caller } from '../../http/access.ts';
import type { BodyOutput, HandlerContext, Output, PatchBody } from '../../http/endpoint.ts';
import type { ErrorCode } from '../../http/errors.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import type { Presenter } from './presenter.ts';

/**
 * Rows of one kind; `Locked` is a row read for a change.
 * @template Prefetched what is read before the transaction of a change: see Resource.prefetch
 */
export interface Rows<Params, Row, Locked extends Row, Fields, Prefetched = undefined> {
  /** @throws HttpError 404 */
  find(session: Session, params: Params, caller: Caller): Promise<Row>;
  /** Finds a row and locks it until the transaction ends. @throws HttpError 404 */
  lock(session: Transaction, params: Params, caller: Caller): Promise<Locked>;
  update(
    session: Transaction,
    before: Locked,
    fields: Fields,
    cause: Cause,
    prefetched: Prefetched | undefined,
  ): Promise<Row>;
  remove(session: Transaction, before: Locked, cause: Cause): Promise<void>;
}

export interface Resource<Params extends z.ZodObject, Row, Locked extends Row, Fields, Prefetched> {
  /** In the singular, for people: `article`. */
  readonly name: string;
  /** The object of the summaries `Read …`, `Replace …`, `Delete …`; by default the name with its article. */
  readonly object?: string;
  /** The end of operation ids, by default the capitalized name: `Article`. */
  readonly id?: string;
  /** The path of one row, below the version prefix: `/articles/{id}`. */
  readonly path: string;
  readonly params: Params;
  readonly tag: string;
  readonly read: Access;
  readonly write: Access;
  readonly plainErrors?: true;
  readonly schema: z.ZodObject;
  /** The schema of the representation, if responses wrap it. */
  readonly representation?: z.ZodObject;
  readonly hal?: z.ZodType;
  readonly presenter: Presenter<Row>;
  readonly rows: Rows<Output<Params>, Row, Locked, Fields, Prefetched>;
  /** A complete replacement: every change results in its fields. */
  readonly replace: { readonly schema: z.ZodType<Fields>; readonly example?: unknown };
  readonly patch: { readonly schema: z.ZodObject; readonly example: unknown };
  /** Serves a GET as plain JSON from a cache. */
  readonly cached?: (params: Output<Params>) => Reply | Promise<Reply>;
  /** Reads what a change needs before its transaction, based on the body; without `params`, the row is a new one. */
  readonly prefetch?: (body: PatchBody<object>, params?: Output<Params>) => Promise<Prefetched>;
  /** Rewrites a patch whose meaning depends on the row. */
  readonly interpretPatch?: (before: Locked, body: PatchBody<object>) => PatchBody<object>;
  /** @throws HttpError 403 for a caller who may read the row, but not change or delete it */
  readonly requireRight?: (right: 'edit' | 'remove', caller: Caller, row: Locked) => void;
  /** What a PUT or PATCH touches: see WriteOptions in storage/database.ts. */
  readonly touches?: (params: Output<Params>) => readonly string[];
}

/** The settings that are specific to one operation. */
export interface Particular {
  readonly summary?: string;
  readonly description?: string;
  /** The description of the successful response. */
  readonly success?: string;
  /** Errors in addition to those common to all operations of this kind. */
  readonly errors?: readonly ErrorCode[];
}

export interface Creation<Params extends z.ZodObject | undefined, Body extends z.ZodType, Row, Prefetched>
  extends Particular {
  /** The path, if it is not that of the collection: `/articles`. */
  readonly path?: string;
  readonly params?: Params;
  /** Who may create one, if different from who may write. */
  readonly access?: Access;
  readonly body: JsonBody<Body>;
  /** What the creation touches: see WriteOptions in storage/database.ts. */
  readonly touches?: (params: Output<Params>) => readonly string[];
  insert(
    session: Transaction,
    context: HandlerContext<Output<Params>, undefined, BodyOutput<JsonBody<Body> & { kind: 'json' }>>,
    prefetched: Prefetched | undefined,
  ): Promise<Row>;
}

interface JsonBody<Schema> {
  readonly schema: Schema;
  readonly example?: unknown;
}
