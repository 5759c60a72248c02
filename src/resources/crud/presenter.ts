/** The representation of rows of one kind: JSON or HAL, with links that the caller can follow. */
import { buildAddress } from '../../http/hal/addresses.ts';
import { addSelfLink, buildDateOptions, isHal, type Links, toHalText } from '../../http/hal/index.ts';
import { type Reply, type ReplyOptions, replyCreated, replyOk } from '../../http/response/reply.ts';
import type { RequestContext } from '../context.ts';

/** @typeParam Context what the representation depends on in a request */
export interface Kind<Row, Context = RequestContext> {
  /** The segments of the row's path below the version prefix: `['products', 5]`. */
  placeOf(row: Row): readonly (string | number)[];
  representationOf(row: Row): object;
  /** The representation as plain JSON, if it has more members than HAL. */
  plainOf?(context: Context, row: Row): object;
  /** The representation as JSON text, if it is stored as text. */
  representationText?(row: Row): string;
  /** The body as plain JSON text, if it is more than the representation. */
  textOf?(row: Row): string;
  /** HAL links in addition to `self`. */
  linksOf?(context: Context, row: Row, self: string): Links;
  /** Epoch milliseconds of the last change; omitted if the representation can change without the row. */
  changedAt?(row: Row): number;
  /** Whether responses show the time of the last change; true by default. */
  isDated?(row: Row): boolean;
}

export type Presenter<Row, Context extends RequestContext = RequestContext> = ReturnType<
  typeof createPresenter<Row, Context>
>;

export function createPresenter<Row, Context extends RequestContext = RequestContext>(
  kind: Kind<Row, Context>,
) {
  const toPlain = (context: Context, row: Row): Readonly<Record<string, unknown>> => ({
    ...(kind.plainOf?.(context, row) ?? kind.representationOf(row)),
  });

  /** The body of a GET for this caller and Accept, as text; If-Match is compared against it too. */
  function formatBody(context: Context, row: Row): string {
    const text = kind.representationText?.(row);
    if (!isHal(context.mediaType)) return text ?? kind.textOf?.(row) ?? JSON.stringify(toPlain(context, row));
    const href = buildAddress(context.url, ...kind.placeOf(row));
    const links = addSelfLink(href, kind.linksOf?.(context, row, href));
    return toHalText(text ?? JSON.stringify(kind.representationOf(row)), links);
  }

  function buildOptions({ mediaType }: Context, row: Row): ReplyOptions {
    const changedAt = kind.isDated?.(row) === false ? undefined : kind.changedAt?.(row);
    return changedAt === undefined ? {} : buildDateOptions(mediaType, changedAt);
  }

  return {
    plain: toPlain,
    body: formatBody,
    /** The bodies of the rows of a list. */
    textsOf: (context: Context) => (row: Row) => formatBody(context, row),
    changedAt: (row: Row) => kind.changedAt?.(row),
    shown: (context: Context, row: Row): Reply =>
      replyOk(formatBody(context, row), buildOptions(context, row)),
    created: (context: Context, row: Row): Reply =>
      replyCreated(
        buildAddress(context.url, ...kind.placeOf(row)),
        formatBody(context, row),
        buildOptions(context, row),
      ),
  };
}
