/** What has been done with images since the start, for the metrics. */

export interface MediaNumbers {
  /** Uploads that were kept, and those that were refused. */
  readonly kept: number;
  readonly refused: number;
  /** Bytes of those that were kept. */
  readonly keptBytes: number;
  /** Requests for other sizes and formats that were there already, and those made for one. */
  readonly hits: number;
  readonly made: number;
  /** Bytes of what was made. */
  readonly madeBytes: number;
  /** Bytes of other sizes and formats that the process knows of. */
  readonly cacheBytes: number;
}

/** Those that are counted; the cache knows its own size. */
export type MediaCounts = { -readonly [Name in Exclude<keyof MediaNumbers, 'cacheBytes'>]: number };

export const countNothing = (): MediaCounts => ({
  ...{ kept: 0, refused: 0, keptBytes: 0 },
  ...{ hits: 0, made: 0, madeBytes: 0 },
});
