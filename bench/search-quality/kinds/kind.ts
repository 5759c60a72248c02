/** A kind of product that the made-up shop sells, the ways people write it, and what its products differ in. */

export interface Kind {
  /** Distinguishes kinds; nothing of it is searched. */
  readonly id: string;
  /** Kinds that a customer who looks for this one may also take. */
  readonly family: string;
  readonly category: string;
  /** How names call it: shops do not agree. */
  readonly names: readonly [string, ...string[]];
  /** Singular and plural, as people ask for it. */
  readonly asked: readonly [singular: string, plural: string];
  readonly brands: readonly [string, ...string[]];
  readonly colours?: boolean;
  readonly audiences?: boolean;
  readonly materials?: readonly [string, ...string[]];
  /** A size with its unit, as names have it. */
  readonly sizes?: readonly [string, ...string[]];
  /** Whether each has a part number of its maker. */
  readonly coded?: boolean;
  /** What descriptions say of such products, `{other}` being the name of another kind. */
  readonly sentences: readonly [string, ...string[]];
}
