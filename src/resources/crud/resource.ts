/** What the endpoints of a resource are made of: see index.ts. */
import type { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import type { Access, Caller } from '../../http/access.ts';
import type { BodyOutput, HandlerContext, Output, PatchBody } from '../../http/endpoint.ts';
import type { ErrorCode } from '../../http/errors.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import type { Presenter } from './presenter.ts';

/**
 * Rows of one kind; `Locked` is what is known of one that is about to be changed.
 * @template Prefetched what is read before the transaction of a change: see Resource.prefetch
 */
export interface Rows<Params, Row, Locked extends Row, Fields, Prefetched = undefined> {
  /** @throws HttpError 404 */
  find(session: Session, params: Params, caller: Caller): Promise<Row>;
  /** The same, keeping others from changing it until the transaction ends. @throws HttpError 404 */
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
  /** What operations read, replace and delete; the name with its article unless this says otherwise. */
  readonly object?: string;
  /** How the ids of operations end; the name unless this says otherwise: `Article`. */
  readonly id?: string;
  /** Of one, below the version's prefix: `/articles/{id}`. */
  readonly path: string;
  readonly params: Params;
  readonly tag: string;
  readonly read: Access;
  readonly write: Access;
  readonly plainErrors?: true;
  readonly schema: z.ZodObject;
  /** The schema of the representation, where responses wrap it. */
  readonly representation?: z.ZodObject;
  readonly hal?: z.ZodType;
  readonly presenter: Presenter<Row>;
  readonly rows: Rows<Output<Params>, Row, Locked, Fields, Prefetched>;
  /** A complete replacement: every change ends in its fields. */
  readonly replace: { readonly schema: z.ZodType<Fields>; readonly example?: unknown };
  readonly patch: { readonly schema: z.ZodObject; readonly example: unknown };
  /** A response to a GET as plain JSON that is kept while it is current. */
  readonly cached?: (params: Output<Params>) => Reply | Promise<Reply>;
  /** Reads what a change needs before its transaction, from what its body says. */
  readonly prefetch?: (body: PatchBody<object>) => Promise<Prefetched>;
  /** What a patch means, where that is not what it says. */
  readonly interpretPatch?: (before: Locked, body: PatchBody<object>) => PatchBody<object>;
  /** @throws HttpError 403 for a caller who may see it, but not do this */
  readonly requireRight?: (right: 'edit' | 'remove', caller: Caller, row: Locked) => void;
  /** What a PUT or PATCH touches: see WriteOptions in storage/database.ts. */
  readonly touches?: (params: Output<Params>) => readonly string[];
}

/** What is particular to one operation. */
export interface Particular {
  readonly summary?: string;
  readonly description?: string;
  /** Describes a success. */
  readonly success?: string;
  /** Errors beyond those that every operation of its kind has. */
  readonly errors?: readonly ErrorCode[];
}

export interface Creation<Params extends z.ZodObject | undefined, Body extends z.ZodType, Row, Prefetched>
  extends Particular {
  /** Of the collection: `/articles`. */
  readonly path: string;
  readonly params?: Params;
  /** Who may, where that is not who may write. */
  readonly access?: Access;
  readonly body: JsonBody<Body>;
  /** What it touches: see WriteOptions in storage/database.ts. */
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
