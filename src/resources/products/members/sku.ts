/** Stock-keeping units: the shop's own codes for products and variants. */

/** In characters: the length of the longest skus that shops export. */
export const maxSkuLength = 255;
