/** The schema of a product's images as separate resources: reading, adding, describing and ordering them. */
import { z } from 'zod';
import { pageParameters } from '../../http/paginate.ts';
import { identifier } from '../../http/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';
import { alt, image, imageLink, maxImages } from '../products/members/images.ts';

const position = z
  .int()
  .min(0)
  .max(maxImages - 1)
  .describe('The position among the images of the product, from 0.')
  .meta({ examples: [0] });

const example = {
  id: 1_274_218_653,
  productId: 1,
  url: '/media/d6c5b8ddfd3bd7ca6b2b3a5b8ec1cbe8e9bd3f6a1b2c3d4e5f60718293a4b5c6',
  alt: 'The lamp, lit',
  width: 1600,
  height: 1200,
  colour: '#8a6f52',
  type: 'image/jpeg',
  position: 0,
} as const;

export const linkExample = { url: 'https://images.example/lamp-2.jpg', alt: 'The lamp from the side' };

export const productImage = z
  .object({ id: identifier(), productId: identifier(), ...image.omit({ id: true }).shape, position })
  .meta({ id: 'ProductImage', example });

export const { hal, page } = buildHalSchemas(productImage, 'images', {
  always: ['product', 'content'],
  sometimes: ['edit', 'delete'],
});

/** JSON instead of a file: a link, which is stored as given and not fetched. */
export const createImageLink = z
  .object({ url: imageLink, alt: alt.nullish() })
  .meta({ id: 'CreateImageLink' });

/** Text fields of an image: parts of a form, or parameters, which count where the body has no such field. */
export const imageTexts = z.object({ alt: alt.optional() });

/** The complete result of a PATCH. There is no PUT: what an image shows never changes. */
export const replaceImage = z
  .object({ alt: alt.nullish(), position })
  .transform(input => ({ alt: input.alt ?? null, position: input.position }));

export const patchImage = z
  .object({ alt: alt.nullish(), position: position.optional() })
  .meta({ id: 'PatchProductImage' });

export const listImages = z.object(pageParameters);

export type ProductImage = z.output<typeof productImage>;
export type ImageFields = z.output<typeof replaceImage>;
