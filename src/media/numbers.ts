/** Numbers of images processed since the start, for the metrics. */

export interface MediaNumbers {
  /** Uploads that were stored, and uploads that were refused. */
  readonly kept: number;
  readonly refused: number;
  /** Bytes of the stored uploads. */
  readonly keptBytes: number;
  /** Requests for variants that were cached already, and variants that were made. */
  readonly hits: number;
  readonly made: number;
  /** Bytes of the variants that were made. */
  readonly madeBytes: number;
  /** Bytes of files in the cache that the process knows of. */
  readonly cacheBytes: number;
}

/** The numbers that are counted here; the cache keeps track of its size. */
export type MediaCounts = { -readonly [Name in Exclude<keyof MediaNumbers, 'cacheBytes'>]: number };

export const countNothing = (): MediaCounts => ({
  ...{ kept: 0, refused: 0, keptBytes: 0 },
  ...{ hits: 0, made: 0, madeBytes: 0 },
});
