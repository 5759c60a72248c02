/** Small files as shops export them, with the quirks of real ones. */

const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(row => row.map(cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','))
    .join('\r\n');

/** A CSV of rows given by column name; cells that a row does not name are empty. */
function table(columns: readonly string[], rows: readonly Readonly<Record<string, string>>[]): string {
  for (const row of rows)
    for (const name of Object.keys(row)) if (!columns.includes(name)) throw new Error(`no column ${name}`);
  return csvOf([columns, ...rows.map(row => columns.map(column => row[column] ?? ''))]);
}

const shopifyColumns = [
  ...['Handle', 'Title', 'Body (HTML)', 'Vendor', 'Product Category', 'Type', 'Tags', 'Published'],
  ...['Option1 Name', 'Option1 Value', 'Option1 Linked To', 'Option2 Name', 'Option2 Value'],
  ...['Option2 Linked To', 'Option3 Name', 'Option3 Value', 'Option3 Linked To', 'Variant SKU'],
  ...['Variant Grams', 'Variant Inventory Tracker', 'Variant Inventory Qty', 'Variant Inventory Policy'],
  ...['Variant Fulfillment Service', 'Variant Price', 'Variant Compare At Price'],
  ...['Variant Requires Shipping', 'Variant Taxable', 'Variant Barcode', 'Image Src', 'Image Position'],
  ...['Image Alt Text', 'Gift Card', 'SEO Title', 'SEO Description'],
  ...['Google Shopping / Google Product Category', 'Google Shopping / Gender', 'Google Shopping / MPN'],
  ...['Fabric (product.metafields.shopify.fabric)', 'Variant Image', 'Variant Weight Unit'],
  ...['Variant Tax Code', 'Cost per item', 'Price / International', 'Status'],
];

const tee = { Handle: 'river-tee' };
const teeStock = { 'Variant Inventory Tracker': 'shopify', 'Variant Inventory Policy': 'deny' };

export const shopifyFile = table(shopifyColumns, [
  {
    ...tee,
    Title: 'River Tee',
    'Body (HTML)': '<p>Soft, "organic" cotton</p>',
    Vendor: 'Northwater',
    'Product Category': 'Apparel & Accessories > Clothing > Shirts & Tops',
    Type: 'T-Shirts',
    Tags: 'cotton, summer,  new in',
    Published: 'true',
    'Option1 Name': 'Size',
    'Option1 Value': 'S',
    'Option2 Name': 'Colour',
    'Option2 Value': 'Blue',
    ...{ ...teeStock, 'Variant SKU': "'RT-S-B", 'Variant Grams': '180', 'Variant Inventory Qty': '7' },
    ...{ 'Variant Price': '24.90', 'Variant Compare At Price': '29.90', 'Variant Barcode': '4006381333931' },
    ...{ 'Image Src': 'https://cdn.example/tee-2.jpg?v=1', 'Image Position': '2', 'Image Alt Text': 'Back' },
    ...{ 'Variant Image': 'https://cdn.example/tee-blue.jpg', 'Variant Weight Unit': 'g' },
    ...{ 'SEO Title': 'River tee', 'Google Shopping / MPN': 'NW-RT', 'Cost per item': '9.10' },
    ...{ 'Fabric (product.metafields.shopify.fabric)': 'cotton; hemp', Status: 'active' },
  },
  {
    ...tee,
    ...{ 'Option1 Value': 'M', 'Option2 Value': 'Blue', 'Variant SKU': 'RT-M-B', 'Variant Grams': '190' },
    ...{ ...teeStock, 'Variant Inventory Qty': '-2', 'Variant Price': '26.90', 'Cost per item': '9.40' },
    ...{ 'Image Src': 'https://cdn.example/tee-1.jpg', 'Image Position': '1', 'Image Alt Text': 'Front' },
  },
  { ...tee, 'Image Src': 'https://cdn.example/tee-3.jpg', 'Image Position': '3' },
  {
    ...{ Handle: 'mug', Title: 'Mug', Vendor: 'Northwater', Type: 'Kitchen', Published: 'false' },
    ...{ 'Option1 Name': 'Title', 'Option1 Value': 'Default Title', 'Variant SKU': 'MUG-1' },
    ...{ 'Variant Grams': '0', 'Variant Price': '12', 'Variant Compare At Price': '0.00', Status: 'active' },
    ...{
      'Variant Barcode': "'12345",
      'Variant Inventory Policy': 'continue',
      'Product Category': 'Uncategorized',
    },
  },
]);

const wooColumns = [
  ...['ID', 'Type', 'SKU', 'GTIN, UPC, EAN, or ISBN', 'Name', 'Published', 'Is featured?'],
  ...['Visibility in catalog', 'Short description', 'Description', 'Date sale price starts'],
  ...['Date sale price ends', 'Tax status', 'Tax class', 'In stock?', 'Stock', 'Low stock amount'],
  ...['Backorders allowed?', 'Sold individually?', 'Weight (kg)', 'Length (cm)', 'Width (cm)', 'Height (cm)'],
  ...['Allow customer reviews?', 'Purchase note', 'Sale price', 'Regular price', 'Categories', 'Tags'],
  ...['Shipping class', 'Images', 'Download limit', 'Download expiry days', 'Parent', 'Grouped products'],
  ...['Upsells', 'Cross-sells', 'External URL', 'Button text', 'Position', 'Brands'],
  ...['Attribute 1 name', 'Attribute 1 value(s)', 'Attribute 1 visible', 'Attribute 1 global'],
  ...['Attribute 1 default', 'Attribute 2 name', 'Attribute 2 value(s)', 'Attribute 2 visible'],
  ...['Attribute 2 global', 'Meta: _care'],
];

export const wooFile = table(wooColumns, [
  {
    ...{ ID: '10', Type: 'variable', SKU: 'HOOD', Name: 'Hoodie', Published: '1', 'In stock?': '1' },
    ...{ 'Short description': 'Warm.', Description: 'Thick fleece.\\nWash cold.', Tags: 'warm, fleece' },
    Categories: 'Clothing, Clothing > Hoodies, Sale\\, all',
    ...{ Images: 'https://shop.example/h.jpg, https://shop.example/h-2.jpg', Brands: 'Fjord' },
    ...{ 'Attribute 1 name': 'Size', 'Attribute 1 value(s)': 'S, M', 'Attribute 1 visible': '1' },
    ...{ 'Attribute 2 name': 'Fabric', 'Attribute 2 value(s)': 'Cotton, Wool', 'Meta: _care': 'cold' },
  },
  {
    ...{ ID: '11', Type: 'simple', SKU: 'CAP', Name: 'Cap', Published: '-1', 'In stock?': '0', Stock: '3' },
    ...{ 'Regular price': '15', 'Sale price': '12.50', 'Attribute 1 name': 'Colour' },
    ...{ 'Attribute 1 value(s)': 'Red', 'Weight (kg)': '.1', 'Short description': 'A cap' },
  },
  {
    ...{ ID: '12', Type: 'variation', SKU: 'HOOD-S', Name: 'Hoodie - S', Published: '1', 'In stock?': '1' },
    ...{
      Stock: '5',
      'Backorders allowed?': 'notify',
      'Regular price': '60',
      'Sale price': '45',
      Parent: 'HOOD',
    },
    ...{ 'Attribute 1 name': 'Size', 'Attribute 1 value(s)': 'S', Images: 'https://shop.example/h-s.jpg' },
    ...{ 'Weight (kg)': '0.8', 'GTIN, UPC, EAN, or ISBN': '4006381333931' },
  },
  {
    ...{ ID: '13', Type: 'variation, virtual', SKU: '', Name: 'Hoodie - M', Published: '1' },
    ...{ 'Regular price': '62', Parent: 'id:10', 'Attribute 1 name': 'Size', 'Attribute 1 value(s)': 'M' },
  },
  {
    ...{ ID: '14', Type: 'variation', SKU: 'LOST', Name: 'Lost', 'Regular price': '1', Parent: 'id:99' },
  },
  {
    ...{ ID: '15', Type: 'simple', SKU: 'OLD-SALE', Name: 'Lamp', Published: '1', 'Regular price': '20' },
    ...{ 'Sale price': '10', 'Date sale price ends': '2020-01-01' },
  },
  {
    ...{ ID: '16', Type: 'grouped', SKU: 'WARM', Name: 'All that is warm', Published: '1' },
    ...{ 'Grouped products': 'HOOD, id:11', Description: 'Hoodie and cap' },
  },
]);

const magentoColumns = [
  ...['sku', 'store_view_code', 'attribute_set_code', 'product_type', 'categories', 'product_websites'],
  ...['name', 'description', 'short_description', 'weight', 'product_online', 'tax_class_name'],
  ...['visibility', 'price', 'special_price', 'special_price_from_date', 'special_price_to_date', 'url_key'],
  ...['meta_title', 'base_image', 'base_image_label', 'small_image', 'additional_attributes', 'qty'],
  ...['allow_backorders', 'use_config_backorders', 'is_in_stock', 'manage_stock'],
  ...['use_config_manage_stock', 'additional_images', 'additional_image_labels'],
  ...['configurable_variations', 'configurable_variation_labels'],
];

const jacketChild = (size: string, colour: string, qty: string) => ({
  ...{ sku: `JK-${size}-${colour}`, attribute_set_code: 'Top', product_type: 'simple', weight: '1.0000' },
  ...{ name: `Jacket-${size}-${colour}`, price: size === 'S' ? '70.0000' : '72.0000', product_online: '1' },
  ...{ visibility: 'Not Visible Individually', qty, is_in_stock: qty === '0.0000' ? '0' : '1' },
  ...{ use_config_manage_stock: '1', manage_stock: '1', base_image: `/j/k/jk-${colour}.jpg` },
  additional_attributes: `color=${colour},pattern=Solid,size=${size}`,
  url_key: `jacket-${size}-${colour}`,
});

export const magentoFile = table(magentoColumns, [
  jacketChild('S', 'Black', '100.0000'),
  jacketChild('M', 'Black', '0.0000'),
  {
    ...{ sku: 'BAG', attribute_set_code: 'Bag', product_type: 'simple', name: 'Bag', price: '34.0000' },
    ...{ visibility: 'Catalog, Search', product_online: '1', special_price: '30.0000' },
    ...{ categories: 'Default Category/Gear,Default Category/Gear/Bags', qty: '3.0000', is_in_stock: '1' },
    ...{ use_config_manage_stock: '1', additional_attributes: 'material=Canvas|Leather,brand=Fjord' },
  },
  {
    ...{ sku: 'JK', attribute_set_code: 'Top', product_type: 'configurable', name: 'Jacket' },
    categories: 'Default Category/Men,Default Category/Men/Tops/Jackets,Default Category/Sale',
    ...{
      description: '<p>Warm</p>',
      short_description: 'Warm',
      product_online: '1',
      tax_class_name: 'Taxable',
    },
    ...{ visibility: 'Catalog, Search', base_image: '/j/k/jk-main.jpg', base_image_label: 'Jacket' },
    ...{ additional_images: '/j/k/jk-main.jpg,/j/k/jk-back.jpg', additional_image_labels: ',Back' },
    additional_attributes: 'climate=Cool|Windy,note=Zip, lined,pattern=Solid',
    configurable_variations: 'sku=JK-S-Black,size=S,color=Black|sku=JK-M-Black,size=M,color=Black',
    configurable_variation_labels: 'size=Size,color=Colour',
  },
  { sku: 'JK', store_view_code: 'german', name: 'Jacke' },
  { sku: 'STRAPS', product_type: 'grouped', name: 'Set of straps', visibility: 'Catalog, Search' },
]);

const feedHeader = [
  ...['id', 'title', 'description', 'link', 'image_link', 'additional_image_link', 'availability', 'price'],
  ...['sale_price', 'brand', 'gtin', 'mpn', 'condition', 'product_type', 'google_product_category'],
  ...['item_group_id', 'color', 'size', 'shipping_weight', 'custom_label_0'],
];

const shoe = (id: string, size: string, colour: string, rest: Readonly<Record<string, string>>) => ({
  ...{
    id,
    title: `Trail Runner ${colour} ${size}`,
    description: 'Light.',
    brand: 'Fjord',
    size,
    color: colour,
  },
  ...{ item_group_id: 'TR', condition: 'new', product_type: 'Shoes > Running, Sale', ...rest },
});

const feedRows = [
  shoe('TR-42-R', '42', 'Red', {
    ...{ price: '99.00 EUR', sale_price: '79.00 EUR', availability: 'in_stock', gtin: '4006381333931' },
    ...{
      image_link: 'https://shop.example/tr-red.jpg',
      shipping_weight: '0.6 kg',
      link: 'https://shop.example/tr',
    },
    additional_image_link: 'https://shop.example/tr-a.jpg,https://shop.example/w_300,h_200/tr-b.jpg',
  }),
  {
    ...{
      id: 'SOCK',
      title: 'Socks',
      price: '9.50 EUR',
      availability: 'out of stock',
      custom_label_0: 'basics',
    },
    ...{
      google_product_category: '209',
      link: 'https://shop.example/s',
      image_link: 'https://shop.example/s.jpg',
    },
  },
  shoe('TR-43-R', '43', 'Red', {
    ...{ price: '101.00 EUR', availability: 'preorder', image_link: 'https://shop.example/tr-red.jpg' },
  }),
];

export const googleFile = table(feedHeader, feedRows);

/** An element for each value of a cell of the table, which may hold several. */
function toElements(
  name: string,
  { [name]: text = '' }: Readonly<Record<string, string>>,
): readonly string[] {
  const values = name === 'additional_image_link' ? text.split(/,(?=https:)/) : [text];
  return values.filter(value => value !== '').map(value => `<g:${name}><![CDATA[${value}]]></g:${name}>`);
}

export const googleXmlFile = `<?xml version="1.0" encoding="UTF-8"?>
<!-- once a day -->
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0">
  <channel>
    <title>The shop</title>
${feedRows.map(row => `    <item>\n      ${feedHeader.flatMap(name => toElements(name, row)).join('\n      ')}\n    </item>\n`).join('')}  </channel>
</rss>
`;

export const metaFile = table(
  [
    ...feedHeader,
    'fb_product_category',
    'quantity_to_sell_on_facebook',
    'product_tags[0]',
    'product_tags[1]',
    'status',
  ],
  feedRows.map((row, index) => ({
    ...row,
    ...(index === 0 ? { quantity_to_sell_on_facebook: '6' } : {}),
    ...(index === 1
      ? {
          ...{ quantity_to_sell_on_facebook: '4', status: 'archived', 'product_tags[0]': 'warm' },
          ...{ 'product_tags[1]': 'wool', fb_product_category: 'Clothing > Socks' },
        }
      : {}),
  })),
);
