/** Data of a shop's file that is not imported as it is, which the import must report. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

const wooHeader =
  'ID,Type,SKU,Name,Published,In stock?,Stock,Regular price,Parent,Attribute 1 name,Attribute 1 value(s),Images';
const magentoHeader =
  'sku,product_type,name,product_online,visibility,price,base_image,additional_attributes,configurable_variations';

const metaHeader = 'id,title,availability,price,image_link,fb_product_category,item_group_id,color,status';
const googleHeader = 'id,title,availability,price,image_link,item_group_id,color';
const headers = { woocommerce: wooHeader, magento: magentoHeader, meta: metaHeader, google: googleHeader };

interface Case {
  readonly name: string;
  readonly shop: keyof typeof headers;
  readonly rows: readonly string[];
  readonly says: readonly string[];
  readonly not?: string;
  readonly product: object;
  /** The variants that were imported. */
  readonly variants: readonly object[];
}

const disabled = 'variants that the shop has disabled were left out';
const allDisabled = 'products were archived: the shop has disabled all of their variants';
const withoutRow =
  'variants that a product names were left out: they have no row, or belong to an earlier product';
const shared = 'variants are sold without a limit: the shop tracks their stock only in total, on the product';

const cases: readonly Case[] = [
  {
    name: 'a disabled variant is left out, with its image',
    shop: 'woocommerce',
    rows: [
      '1,variable,TEE,Tee,1,1,,,,Size,"S, M",https://c.example/t.jpg',
      '2,variation,TEE-S,Tee,1,1,3,10,TEE,Size,S,',
      '3,variation,TEE-M,Tee,0,1,3,9,TEE,Size,M,https://c.example/m.jpg',
    ],
    says: [`1 × ${disabled}`, '1 created, 0 updated, 0 unchanged, 0 rejected'],
    product: {
      ...{ status: 'active', price: 10, options: [{ name: 'Size', values: ['S'] }] },
      images: [expect.objectContaining({ url: 'https://c.example/t.jpg' })],
    },
    variants: [{ sku: 'TEE-S', available: true }],
  },
  {
    name: 'with all variants disabled the product is archived',
    shop: 'woocommerce',
    rows: [
      '1,variable,TEE,Tee,1,1,,,,Size,"S, M",',
      '2,variation,TEE-S,Tee,0,1,3,10,TEE,Size,S,',
      '3,variation,TEE-M,Tee,0,1,3,9,TEE,Size,M,',
    ],
    says: [`1 × ${allDisabled}`, '1 created'],
    not: disabled,
    product: { status: 'archived', price: 9 },
    variants: [{ sku: 'TEE-S' }, { sku: 'TEE-M' }],
  },
  {
    name: 'variants of a draft are not disabled by themselves',
    shop: 'woocommerce',
    rows: ['1,variable,TEE,Tee,-1,1,,,,Size,S,', '2,variation,TEE-S,Tee,-1,1,3,10,TEE,Size,S,'],
    says: ['1 created'],
    not: 'disabled',
    product: { status: 'archived', price: 10 },
    variants: [{ sku: 'TEE-S' }],
  },
  {
    name: 'an option that a variation leaves open, and a value that none has',
    shop: 'woocommerce',
    rows: [
      '1,variable,TEE,Tee,1,1,,,,Size,"S, M, L",',
      '2,variation,TEE-S,Tee,1,1,3,10,TEE,Size,S,',
      '3,variation,TEE-X,Tee,1,1,3,9,TEE,Size,,',
    ],
    says: [
      '1 × options that a variation leaves open got the value Any',
      '2 × option values that no variation has were left out',
      '1 created',
    ],
    product: { options: [{ name: 'Size', values: ['S', 'Any'] }] },
    variants: [
      { sku: 'TEE-S', options: { Size: 'S' } },
      { sku: 'TEE-X', options: { Size: 'Any' } },
    ],
  },
  {
    name: 'titles that differ within a group',
    shop: 'google',
    rows: ['S-1,Sofa red,in stock,10 USD,,S,Red', 'S-2,Sofa blue,in stock,12 USD,,S,Blue'],
    says: [
      '1 × groups whose rows have different titles were named by the part these have in common, or by the first',
      '1 created',
    ],
    product: { name: 'Sofa' },
    variants: [{ sku: 'S-1' }, { sku: 'S-2' }],
  },
  {
    name: 'a row with the id of a group belongs to it',
    shop: 'google',
    rows: [
      'S,Sofa,in stock,9 USD,,,',
      'S-1,Sofa red,in stock,10 USD,,S,Red',
      'S-2,Sofa blue,in stock,12 USD,,S,Blue',
    ],
    says: ['1 created, 0 updated'],
    product: { name: 'Sofa', price: 9 },
    variants: [{ sku: 'S' }, { sku: 'S-1' }, { sku: 'S-2' }],
  },
  {
    name: 'titles of a group that are the same are not counted',
    shop: 'google',
    rows: ['S-1,Sofa,in stock,10 USD,,S,Red', 'S-2,Sofa,in stock,12 USD,,S,Blue'],
    says: ['1 created'],
    not: 'different titles',
    product: { name: 'Sofa' },
    variants: [{ sku: 'S-1' }, { sku: 'S-2' }],
  },
  {
    name: 'stock that is counted at the product',
    shop: 'woocommerce',
    rows: [
      '1,variable,TEE,Tee,1,1,7,,,Size,"S, M, L, XL",',
      '2,variation,TEE-S,Tee,1,1,parent,10,TEE,Size,S,',
      '3,variation,TEE-M,Tee,1,1,parent,10,TEE,Size,M,',
      '4,variation,TEE-L,Tee,1,0,parent,10,TEE,Size,L,',
      '5,variation,TEE-XL,Tee,1,1,2,10,TEE,Size,XL,',
    ],
    says: [`2 × ${shared}`, '1 created'],
    product: { stock: null },
    variants: [
      { sku: 'TEE-S', stock: null },
      { sku: 'TEE-M', stock: null },
      { sku: 'TEE-L', available: false },
      { sku: 'TEE-XL', stock: { onHand: 2 } },
    ],
  },
  {
    name: 'a disabled variant is left out, with what it says',
    shop: 'magento',
    rows: [
      'C-1,simple,C S,1,Not Visible Individually,10,,"size=S,fit=slim",',
      'C-2,simple,C M,2,Not Visible Individually,9,https://c.example/m.jpg,"size=M,care=wash",',
      'C,configurable,C,1,"Catalog, Search",,,,"sku=C-1,size=S|sku=C-2,size=M"',
    ],
    says: [`1 × ${disabled}`, '1 created'],
    product: {
      ...{ status: 'active', price: 10, images: [], options: [{ name: 'size', values: ['S'] }] },
      attributes: { fit: 'slim', product_type: 'configurable', visibility: 'Catalog, Search' },
    },
    variants: [{ sku: 'C-1' }],
  },
  {
    name: 'with all variants disabled the product is archived',
    shop: 'magento',
    rows: [
      'C-1,simple,C S,2,Not Visible Individually,10,,size=S,',
      'C,configurable,C,1,"Catalog, Search",,,,"sku=C-1,size=S"',
    ],
    says: [`1 × ${allDisabled}`, '1 created'],
    not: disabled,
    product: { status: 'archived', price: 10 },
    variants: [{ sku: 'C-1' }],
  },
  {
    name: 'the code of one variant is not that of the product',
    shop: 'magento',
    rows: [
      'C-1,simple,C S,1,Not Visible Individually,10,,"size=S,ean=4006381333931",',
      'C,configurable,C,1,"Catalog, Search",,,,"sku=C-1,size=S"',
    ],
    says: ['1 created'],
    product: { gtin: null, attributes: { product_type: 'configurable', visibility: 'Catalog, Search' } },
    variants: [{ sku: 'C-1', gtin: '4006381333931' }],
  },
  {
    name: 'of rows that repeat a sku the last counts',
    shop: 'magento',
    rows: [
      'R-1,simple,First,1,"Catalog, Search",10,,,',
      'R-1,simple,Second,1,"Catalog, Search",11,,,',
      'R-1,simple,Third,1,"Catalog, Search",12,,,',
    ],
    says: ['2 × rows that repeat a sku were left out: the last counts', '1 created, 0 updated'],
    product: { name: 'Third', price: 12 },
    variants: [],
  },
  {
    name: 'of rows that repeat the sku of a product with variants this one counts',
    shop: 'magento',
    rows: [
      'C,simple,Before,1,"Catalog, Search",10,,,',
      'C-1,simple,C S,1,Not Visible Individually,10,,size=S,',
      'C,configurable,C,1,"Catalog, Search",,,,"sku=C-1,size=S"',
      'C,simple,After,1,"Catalog, Search",10,,,',
    ],
    says: ['2 × rows that repeat a sku were left out: the last counts', '1 created, 0 updated'],
    product: { name: 'C', price: 10 },
    variants: [{ sku: 'C-1' }],
  },
  {
    name: 'a bundle that costs what is in it is left out, one with a price is not',
    shop: 'magento',
    rows: [
      'B-1,bundle,Kit,1,"Catalog, Search",0.0000,,,',
      'B-2,bundle,Kit,1,"Catalog, Search",,,,',
      'B-3,bundle,Set,1,"Catalog, Search",30,,,',
    ],
    says: ['2 × bundles, which have no price of their own, were left out', '1 created', '0 rejected'],
    product: { name: 'Set', price: 30 },
    variants: [],
  },
  {
    name: 'codes of several variants, the code of their product, and one that is none',
    shop: 'magento',
    rows: [
      'C-1,simple,C S,1,Not Visible Individually,10,,"size=S,ean=4006381333931,isbn=96385074",',
      'C-2,simple,C M,1,Not Visible Individually,10,,"size=M,ean=96385074",',
      'C-3,simple,C L,1,Not Visible Individually,10,,"size=L,ean=123",',
      'C,configurable,C,1,"Catalog, Search",,,ean=5901234123457,"sku=C-1,size=S|sku=C-2,size=M|sku=C-3,size=L"',
    ],
    says: ['1 × barcodes that are not GTINs were kept as attributes', '1 created'],
    product: {
      gtin: '5901234123457',
      attributes: { ean: 123, isbn: 96385074, product_type: 'configurable', visibility: 'Catalog, Search' },
    },
    variants: [
      { sku: 'C-1', gtin: '4006381333931' },
      { sku: 'C-2', gtin: '96385074' },
      { sku: 'C-3', gtin: null },
    ],
  },
  {
    name: 'a variant without a row of its own is left out',
    shop: 'magento',
    rows: [
      'C-1,simple,C S,1,Not Visible Individually,10,,size=S,',
      'C,configurable,C,1,"Catalog, Search",,,,"sku=C-1,size=S|sku=C-2,size=M"',
    ],
    says: [`1 × ${withoutRow}`, '1 created'],
    product: { status: 'active', price: 10, options: [{ name: 'size', values: ['S'] }] },
    variants: [{ sku: 'C-1' }],
  },
  {
    name: 'with no variant that has a row the product is archived',
    shop: 'magento',
    rows: ['C,configurable,C,1,"Catalog, Search",10,,,"sku=C-1,size=S|sku=C-2,size=M"'],
    says: [`2 × ${withoutRow}`, '1 created'],
    product: { status: 'archived', price: 10, options: [] },
    variants: [],
  },
  {
    name: 'what is archived of a group is left out, and the rest is on sale',
    shop: 'meta',
    rows: [
      'K-1,Bowl Blue,in stock,10 USD,,,K,Blue,archived',
      'K-2,Bowl Red,in stock,12 USD,,,K,Red,active',
      'K-3,Bowl Green,in stock,9 USD,,,K,Green,staging',
    ],
    says: [`2 × ${disabled}`, '1 created'],
    product: {
      ...{ name: 'Bowl', status: 'active', price: 12, options: [{ name: 'Color', values: ['Red'] }] },
    },
    variants: [{ sku: 'K-2', options: { Color: 'Red' } }],
  },
  {
    name: 'a group that is archived as a whole stays together',
    shop: 'meta',
    rows: [
      'K-1,Bowl Blue,in stock,10 USD,,,K,Blue,archived',
      'K-2,Bowl Red,in stock,12 USD,,,K,Red,archived',
    ],
    says: [`1 × ${allDisabled}`, '1 created'],
    not: disabled,
    product: { name: 'Bowl', status: 'archived', price: 10 },
    variants: [{ sku: 'K-1' }, { sku: 'K-2' }],
  },
];

test.each(cases)('$shop: $name', ({ shop, rows, says, not, product, variants }) =>
  onCatalog(async place => {
    const file = place.file('p.csv', [headers[shop], ...rows, ''].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', shop]);
    const said = ended.out + ended.err;
    for (const text of says) expect(said).toContain(text);
    if (not !== undefined) expect(said).not.toContain(not);
    expect(ended.status).toBe(0);
    const [made, ...others] = await productsOf(place);
    expect(others).toEqual([]);
    expect(made).toMatchObject(product);
    if ('attributes' in product) expect<unknown>(made?.attributes).toEqual(product.attributes);
    expect(await variantsOf(place)).toMatchObject([...variants]);
    expect((await place.runHere(['import', file, '--preset', shop])).out).toContain(
      '0 created, 0 updated, 1 unchanged',
    );
  }),
);
