/** Stock-keeping units: the shop's own codes for products and variants. */

/** In characters; long enough for all skus that shops are known to export. */
export const longestSku = 255;
