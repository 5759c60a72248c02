/** A kind of product that the synthetic shop sells, the ways people write it, and how its products differ. */

export interface Kind {
  /** An identifier, which is not searched. */
  readonly id: string;
  /** Shared with kinds that a customer who looks for this one may also accept. */
  readonly family: string;
  readonly category: string;
  /** The names of the kind in product names: shops do not agree on one. */
  readonly names: readonly [string, ...string[]];
  /** Singular and plural, as people search for it. */
  readonly asked: readonly [singular: string, plural: string];
  readonly brands: readonly [string, ...string[]];
  readonly colours?: boolean;
  readonly audiences?: boolean;
  readonly materials?: readonly [string, ...string[]];
  /** Sizes with their units, as in product names. */
  readonly sizes?: readonly [string, ...string[]];
  /** Whether each product has a manufacturer's part number. */
  readonly coded?: boolean;
  /** Sentences for descriptions, in which `{other}` stands for the name of another kind. */
  readonly sentences: readonly [string, ...string[]];
}
