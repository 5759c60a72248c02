/** Images of products over HTTP. They are part of their product: changing an image changes the product. */
import { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import { allow, staff } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type HandlerContext } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError, requireFound } from '../../http/errors.ts';
import { buildAddress, toUri } from '../../http/hal/addresses.ts';
import { changeLinks, type Links } from '../../http/hal/index.ts';
import type { Reply } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import { refuseImageErrors } from '../../media/refusal.ts';
import type { Transaction } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import { byId, createCrudEndpoints, createFindersById } from '../crud/index.ts';
import { replyPage } from '../crud/list.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Rows } from '../crud/resource.ts';
import { computeImageId, type Image, maxImages, mediaPath } from '../products/members/images.ts';
import { type LockedProduct, productOf, type StoredProduct, toProductFields } from '../products/row.ts';
import type { Product } from '../products/schema.ts';
import type { Stores } from '../stores.ts';
import { pickPage } from './page.ts';
import * as schema from './schema.ts';

const tag = 'Images';
const path = '/products/{id}/images';
const params = z.object({ id: identifier(), imageId: identifier() });
/** Whatever the declared type: the content decides. */
const fileTypes = ['image/*', 'application/octet-stream'];

/** An image of a product, with its position among the images. */
interface PlacedImage {
  readonly product: Product;
  readonly image: Image;
  readonly position: number;
  readonly updated_at: number;
}
type LockedImage = PlacedImage & { readonly before: LockedProduct };

export function createImageEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, media, config, products, images, imageFiles } = stores;
  const read = allow.everyoneSameView('products:read');
  const write = allow.staff('products:write');
  const presenter = createPresenter<PlacedImage>({
    placeOf: ({ product, image }) => ['products', product.id, 'images', image.id],
    representationOf: toRepresentation,
    linksOf: buildLinks,
    changedAt: row => row.updated_at,
  });
  const { find, lock } = createFindersById('product', products);

  /** Writes a product with new images: existing ones reordered or removed, or one added. */
  async function change(
    session: Transaction,
    before: LockedProduct,
    now: readonly Image[],
    cause: Cause,
  ): Promise<StoredProduct> {
    const fields = { ...toProductFields(productOf(before), before.base_price), images: [...now] };
    const [after] = await products.update(session, [{ before, fields, images: now }], cause);
    if (after === undefined) throw new Error('an update of one product gave none');
    return after;
  }

  /** Appends an image to a product. */
  async function append(
    session: Transaction,
    context: HandlerContext<{ id: number }, unknown, unknown>,
    image: Omit<Image, 'id'>,
  ): Promise<Reply> {
    const before = await lock(session, context.params);
    const product = productOf(before);
    refuseAnother(product, image.url);
    const added: Image = {
      id: computeImageId(image.url, new Set(product.images.map(({ id }) => id))),
      ...image,
    };
    const after = await change(session, before, [...product.images, added], context.cause());
    return presenter.created(context, requireImage(after, added.id));
  }

  const rows: Rows<z.output<typeof params>, PlacedImage, LockedImage, schema.ImageFields> = {
    find: async (session, { id, imageId }) => requireImage(await find(session, { id }), imageId),
    async lock(session, { id, imageId }) {
      const before = await lock(session, { id });
      return { ...requireImage(before, imageId), before };
    },
    async update(session, { before, product, image, position }, fields, cause) {
      const others = product.images.toSpliced(position, 1);
      const now = others.toSpliced(fields.position, 0, { ...image, alt: fields.alt });
      return requireImage(await change(session, before, now, cause), image.id);
    },
    async remove(session, { before, product, position }, cause) {
      await change(session, before, product.images.toSpliced(position, 1), cause);
    },
  };
  const crud = createCrudEndpoints(database, paginator, {
    name: 'image',
    id: 'ProductImage',
    path: `${path}/{imageId}`,
    params,
    tag,
    read,
    write,
    schema: schema.productImage,
    hal: schema.hal,
    replace: { schema: schema.replaceImage },
    patch: { schema: schema.patchImage, example: { alt: 'The lamp, lit', position: 0 } },
    presenter,
    rows,
  });

  return [
    createEndpoint({
      method: 'GET',
      path,
      operationId: 'listProductImages',
      summary: 'List the images of a product',
      description: 'Sorted by position.',
      tag,
      access: read,
      params: byId,
      query: schema.listImages,
      responses: { 200: { description: 'One page of images.', ...schema.page } },
      errors: ['INVALID_CURSOR'],
      async handle(context) {
        const { query, params, url } = context;
        const row = await find(database.read, params);
        const list = `images of product ${row.id}`;
        const request = paginator.request(query, [], { id: 'position' }, list);
        const placed = productOf(row).images.map(({ id }, index) => ({ id, sort_value: index }));
        const shown = pickPage(placed, request);
        const texts = shown.rows.map(({ id }) => presenter.body(context, requireImage(row, id)));
        const page = paginator.page(shown, request, { list, url, items: texts });
        return replyPage(context, page, 'images');
      },
    }),
    createEndpoint({
      method: 'POST',
      path,
      operationId: 'createProductImage',
      summary: 'Add an image to a product',
      description:
        'Send a JPEG, PNG, WebP or GIF (AVIF if the machine of the service can read it) as the body or as the part `file` of a form: its content determines the type. Metadata such as EXIF and locations is removed: a JPEG keeps only its orientation, other formats are rotated unless they are animated. Or send JSON with a link, which is not fetched.',
      tag,
      access: write,
      params: byId,
      query: schema.imageTexts,
      body: {
        kind: 'upload',
        schema: schema.createImageLink,
        example: schema.linkExample,
        texts: schema.imageTexts,
        types: fileTypes,
        limit: config.MEDIA_FILE_LIMIT,
      },
      responses: {
        201: {
          description: 'The image was added as the last one.',
          schema: schema.productImage,
          hal: schema.hal,
        },
      },
      errors: [
        'DUPLICATE',
        'LIMIT_REACHED',
        'UNSUPPORTED_IMAGE',
        'IMAGE_TOO_LARGE',
        'INVALID_IMAGE',
        'MEDIA_UNAVAILABLE',
        'SERVICE_BUSY',
      ],
      async handle(context) {
        const { body, query, params, write, cause } = context;
        if (body.kind === 'json') {
          const { url, alt = query.alt ?? null } = body.value;
          return write(session => append(session, context, { url, alt, ...asLink }));
        }
        // Before storing a file for a product that does not exist.
        await find(database.read, params);
        const image = await refuseImageErrors('file', media.prepare(body.file));
        const { hash, type, width, height, colour } = image;
        const alt = body.texts.alt ?? query.alt ?? null;
        const entry = { url: `${mediaPath}${hash}`, alt, width, height, colour, type };
        return imageFiles.keepFor(image, () =>
          write(async session => {
            await images.add(session, image, cause().at);
            return append(session, context, entry);
          }),
        );
      },
    }),
    crud.get({ summary: 'Read the data of an image' }),
    crud.patch({
      summary: 'Change the description or position of an image',
      description: 'A position after the last one means the last.',
    }),
    crud.remove({
      summary: 'Remove an image from a product',
      description: 'A file that no product uses is deleted a day later.',
      success: 'The image was removed.',
    }),
  ];
}

const asLink = { width: null, height: null, colour: null, type: null };

/** @throws HttpError 409 if there are too many images, or the product already has this one */
function refuseAnother({ images }: Product, url: string): void {
  const same = images.find(image => image.url === url);
  if (same !== undefined) {
    const message = `The product already has this image: ${same.id}.`;
    throw new HttpError('DUPLICATE', {
      message,
      details: [buildErrorDetail(['url'], 'unique', message)],
    });
  }
  if (images.length >= maxImages)
    throw new HttpError('LIMIT_REACHED', { message: `A product can have at most ${maxImages} images.` });
}

/** @throws HttpError 404 */
function requireImage(row: StoredProduct, imageId: number): PlacedImage {
  const product = productOf(row);
  const position = product.images.findIndex(({ id }) => id === imageId);
  const image = requireFound('image', imageId, product.images[position]);
  return { product, image, position, updated_at: row.updated_at };
}

function toRepresentation({ product, image, position }: PlacedImage): schema.ProductImage {
  const { id, ...members } = image;
  return { id, productId: product.id, ...members, position };
}

function buildLinks({ url, caller }: RequestContext, { product, image }: PlacedImage, self: string): Links {
  return {
    product: { href: buildAddress(url, 'products', product.id) },
    content: { href: image.url.startsWith(mediaPath) ? `${url.base}${image.url}` : toUri(image.url) },
    ...changeLinks(self, may(caller, staff, 'products:write')),
  };
}
