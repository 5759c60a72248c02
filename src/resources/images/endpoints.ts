/** Images of products over HTTP. They are part of their product: a change of one is a change of it. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint, type Input } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, halCollection, isHal, type Links } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok, type Reply } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import { refusing } from '../../media/refusal.ts';
import type { Transaction } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import { type Image, idOf, mediaPath, mostImages } from '../products/members/images.ts';
import { fieldsOf, type LockedProduct, productOf, type StoredProduct } from '../products/row.ts';
import type { Product } from '../products/schema.ts';
import type { ProductStore } from '../products/store.ts';
import type { ImageFiles } from './files.ts';
import { pageOf } from './page.ts';
import * as schema from './schema.ts';
import type { ImageStore } from './store.ts';

const tag = 'Images';
const path = '/products/{id}/images';
const ofProduct = z.object({ id: identifier() });
const params = z.object({ id: identifier(), imageId: identifier() });
const readOnly = ['id', 'productId', 'url', 'width', 'height', 'colour', 'type'];
/** Whatever it is called: its content says what it is. */
const fileTypes = ['image/*', 'application/octet-stream'];

interface Stores {
  readonly products: ProductStore;
  readonly images: ImageStore;
  readonly imageFiles: ImageFiles;
}

export function imageEndpoints(
  { database, paginator, media, config }: Dependencies,
  { products, images, imageFiles }: Stores,
): Endpoint[] {
  const find = async (id: number): Promise<StoredProduct> =>
    found(await products.find(database.read, id), id);
  const one = {
    description: 'The image as it is now.',
    schema: schema.productImage,
    hal: schema.productImageHal,
  };

  /** Writes a product with other images: those it had, in another order or without some, and one that is new. */
  async function change(
    session: Transaction,
    before: LockedProduct,
    now: readonly Image[],
    context: Pick<Input<unknown, unknown, unknown>, 'cause'>,
  ): Promise<StoredProduct> {
    const fields = { ...fieldsOf(productOf(before), before.base_price), images: [...now] };
    const [after] = await products.update(session, [{ before, fields, images: now }], context.cause());
    if (after === undefined) throw new Error('an update of one product gave none');
    return after;
  }

  /** Adds an image to a product, at the end. */
  async function append(
    session: Transaction,
    context: Input<{ id: number }, unknown, unknown>,
    image: Omit<Image, 'id'>,
  ): Promise<Reply> {
    const { id } = context.params;
    const before = found(await products.lock(session, id), id);
    const product = productOf(before);
    refuseAnother(product, image.url);
    const added: Image = { id: idOf(image.url, new Set(product.images.map(({ id }) => id))), ...image };
    const after = await change(session, before, [...product.images, added], context);
    return created(
      addressOf(context, id, added.id),
      bodyOf(context, productOf(after), product.images.length),
      datedUnlessHal(context.mediaType, after.updated_at),
    );
  }

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listProductImages',
      summary: 'List the images of a product',
      description: 'In their order.',
      tag,
      access: allow.everyone('products:read'),
      params: ofProduct,
      query: schema.listImages,
      responses: {
        200: { description: 'One page of images.', schema: schema.imageList, hal: schema.imageListHal },
      },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(context) {
        const product = productOf(await find(context.params.id));
        const list = `images of product ${product.id}`;
        const request = paginator.request(context.query, [], { id: 'position' }, list);
        const rows = product.images.map(({ id }, index) => ({ id, sort_value: index }));
        const envelope = paginator.envelope(pageOf(rows, request), request, list, context.url, row =>
          bodyOf(context, product, Number(row.sort_value)),
        );
        return ok(
          isHal(context.mediaType) ? halCollection(envelope, 'images', selfAddress(context.url)) : envelope,
        );
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createProductImage',
      summary: 'Add an image to a product',
      description:
        'A JPEG, PNG, WebP or GIF (AVIF where the machine of the service can read it), as it is or as the part `file` of a form: its content decides, not its name or type. What is not picture is taken out of it, EXIF and places with it, after it has been turned as EXIF says. Or JSON with a link, which is not fetched.',
      tag,
      access: allow.staff('products:write'),
      params: ofProduct,
      query: schema.imageTexts,
      body: {
        kind: 'upload',
        schema: schema.createImageLink,
        example: schema.linkExample,
        texts: schema.imageTexts,
        types: fileTypes,
        limit: config.MEDIA_FILE_LIMIT,
      },
      responses: { 201: { ...one, description: 'The image was added, as the last.' } },
      errors: [
        'NOT_FOUND',
        'DUPLICATE',
        'LIMIT_REACHED',
        'UNSUPPORTED_IMAGE',
        'IMAGE_TOO_LARGE',
        'INVALID_IMAGE',
        'MEDIA_UNAVAILABLE',
        'SERVICE_BUSY',
      ],
      async handle(context) {
        const { body, params, query, write, cause } = context;
        if (body.kind === 'json') {
          const { url, alt = null } = body.value;
          return write(session => append(session, context, { url, alt, ...asLink }));
        }
        // Before anything is kept for a product that is not there.
        await find(params.id);
        const image = await refusing('file', media.prepare(body.file));
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
    endpoint({
      method: 'GET',
      path: `${path}/{imageId}`,
      operationId: 'getProductImage',
      summary: 'Read what is known of an image',
      tag,
      access: allow.everyone('products:read'),
      params,
      responses: { 200: one },
      errors: ['NOT_FOUND'],
      async handle(context) {
        const row = await find(context.params.id);
        const product = productOf(row);
        return show(context, row, indexIn(product, context.params.imageId));
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{imageId}`,
      operationId: 'patchProductImage',
      summary: 'Describe an image, or put it at another place',
      description: 'A position behind the last one is the last.',
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'patch', schema: schema.patchImage, example: { alt: 'The lamp, lit', position: 0 } },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body, precondition } = context;
        return context.write(async session => {
          const before = found(await products.lock(session, params.id), params.id);
          const product = productOf(before);
          const index = indexIn(product, params.imageId);
          precondition(bodyOf(context, product, index), before.updated_at);
          const shown = representationOf(product, index);
          const { alt, position } = patched(shown, body, schema.replaceImage, readOnly);
          const others = product.images.toSpliced(index, 1);
          const now = others.toSpliced(position, 0, { ...imageAt(product, index), alt });
          const after = await change(session, before, now, context);
          return show(context, after, indexIn(productOf(after), params.imageId));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{imageId}`,
      operationId: 'deleteProductImage',
      summary: 'Take an image from a product',
      description: 'A file that no product uses any more is removed a day later.',
      tag,
      access: allow.staff('products:write'),
      params,
      responses: { 204: { description: 'The product is without it.', hal: schema.productImageHal } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, precondition } = context;
        return context.write(async session => {
          const before = found(await products.lock(session, params.id), params.id);
          const product = productOf(before);
          const index = indexIn(product, params.imageId);
          precondition(bodyOf(context, product, index), before.updated_at);
          await change(session, before, product.images.toSpliced(index, 1), context);
          return noContent();
        });
      },
    }),
  ];
}

const asLink = { width: null, height: null, colour: null, type: null };

function found<Row extends StoredProduct>(row: Row | undefined, id: number): Row {
  if (row === undefined) throw notFound('product', id);
  return row;
}

/** @throws HttpError 409 for one more than there may be, and for one that the product has already */
function refuseAnother({ images }: Product, url: string): void {
  const same = images.find(image => image.url === url);
  if (same !== undefined) {
    const message = `The product has this image already: ${same.id}.`;
    throw new HttpError('DUPLICATE', {
      message,
      details: [{ field: 'url', pointer: '#/url', code: 'unique', message }],
    });
  }
  if (images.length >= mostImages)
    throw new HttpError('LIMIT_REACHED', { message: `A product has ${mostImages} images at most.` });
}

/** @throws HttpError 404 */
function indexIn({ images }: Product, imageId: number): number {
  const index = images.findIndex(({ id }) => id === imageId);
  if (index === -1) throw notFound('image', imageId);
  return index;
}

function imageAt({ images }: Product, index: number): Image {
  const image = images[index];
  if (image === undefined) throw new Error(`the product has no image at ${index}`);
  return image;
}

function representationOf(product: Product, index: number): schema.ProductImage {
  const { id, ...members } = imageAt(product, index);
  return { id, productId: product.id, ...members, position: index };
}

const addressOf = ({ url }: RequestContext, productId: number, imageId: number): string =>
  `${versionRoot(url)}/products/${productId}/images/${imageId}`;

/** What a GET of the image's address answers to this caller and Accept. */
function bodyOf(context: RequestContext, product: Product, index: number): string {
  const image = representationOf(product, index);
  if (!isHal(context.mediaType)) return JSON.stringify(image);
  const href = addressOf(context, product.id, image.id);
  const content = image.url.startsWith(mediaPath) ? `${context.url.base}${image.url}` : image.url;
  const mayWrite = may(context.caller, ['admin', 'editor'], 'products:write');
  const links: Links = {
    self: { href },
    product: { href: `${versionRoot(context.url)}/products/${product.id}` },
    content: { href: content },
    ...(mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {}),
  };
  return JSON.stringify(hal(image, links));
}

function show(context: RequestContext, row: StoredProduct, index: number): Reply {
  return ok(bodyOf(context, productOf(row), index), datedUnlessHal(context.mediaType, row.updated_at));
}
