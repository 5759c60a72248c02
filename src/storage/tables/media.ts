/** The columns of the tables of images. */

/** Images that are kept: src/media/ has their files. */
export interface MediaTable {
  /** The SHA-256 of the content, in hexadecimal: the name of the file. */
  hash: string;
  type: string;
  /** Bytes. */
  size: number;
  width: number;
  height: number;
  colour: string;
  created_at: number;
}

/** Which products show an image that is kept. */
export interface MediaUsesTable {
  hash: string;
  product_id: number;
}

/** Images that a product has ceased to show: those that none shows any more are removed later. */
export interface MediaUnusedTable {
  hash: string;
  since: number;
}
