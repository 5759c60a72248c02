/** The tables of images: see ../tables.ts. */

export interface MediaTables {
  /** Stored images: src/media/ manages their files. */
  media: {
    /** The SHA-256 of the content, in hexadecimal: the name of the file. */
    hash: string;
    type: string;
    /** Bytes. */
    size: number;
    width: number;
    height: number;
    colour: string;
    created_at: number;
  };

  /** The products that show a stored image. */
  media_uses: {
    hash: string;
    product_id: number;
  };

  /** Images that a product no longer shows: once no product shows an image, it is removed later. */
  media_unused: {
    hash: string;
    since: number;
  };
}
