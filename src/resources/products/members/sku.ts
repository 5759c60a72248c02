/** Stock-keeping units: what a shop calls a product or a variant. */

/** Characters; as many as the longest that shops export. */
export const longestSku = 255;
