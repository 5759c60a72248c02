/**
 * Further details of some sample products: their brand, a GTIN from the range for use within a shop, a weight and
 * attributes.
 */
import type { Option } from '../resources/products/members/options.ts';
import type { DetailRows } from './rows.ts';

// biome-ignore format: a product is easier to read, and to change, on one line
export const details: DetailRows = {
  'AU-SHELF-W': ['Klangwerk', '2000000001005', 6.4, 'kg', { colour: 'walnut', material: 'wood', watt: 60 }, 219],
  'AU-SHELF-B': ['Klangwerk', '2000000001012', 6.2, 'kg', { colour: 'black', material: 'wood', watt: 60 }],
  'AU-TURN-1': ['Klangwerk', '2000000001029', 5.1, 'kg', { drive: 'belt', speeds: ['33', '45'] }],
  'AU-HEAD-OV': ['Sonderton', '2000000001036', 260, 'g', { colour: 'black', wireless: false }],
  'AU-HEAD-NC': ['Sonderton', '2000000001043', 240, 'g', { colour: 'black', wireless: true, hours: 35 }, 229],
  'AU-BUDS-S': ['Sonderton', '2000000001050', 52, 'g', { colour: 'sand', wireless: true, hours: 7 }],
  'AU-BUDS-SP': ['Sonderton', '2000000001067', 58, 'g', { colour: 'lime', wireless: true, hours: 9 }],
  'AU-PORT-S': ['Sonderton', '2000000001074', 310, 'g', { colour: 'blue', wireless: true, hours: 12, waterproof: true }],
  'AU-PORT-L': ['Sonderton', '2000000001081', 3.8, 'kg', { colour: 'black', wireless: true, hours: 20, watt: 40 }],
  'AU-AMP-30': ['Klangwerk', '2000000001098', 2.4, 'kg', { colour: 'silver', watt: 60 }],
  'LI-DESK-BR': ['Nordlicht', '2000000001104', 1.6, 'kg', { colour: 'brass', material: 'brass', watt: 9 }],
  'LI-DESK-LED': ['Nordlicht', '2000000001111', 900, 'g', { colour: 'white', watt: 8, dimmable: true }, 59.9],
  'LI-FLOOR-AR': ['Nordlicht', '2000000001128', 9.5, 'kg', { colour: 'natural', materials: ['linen', 'marble'], watt: 12 }],
  'LI-FLOOR-TR': ['Nordlicht', '2000000001135', 4.2, 'kg', { colour: 'natural', material: 'ash', watt: 12 }],
  'LI-PEND-GL': ['Nordlicht', '2000000001142', 1.1, 'kg', { colour: 'smoke', material: 'glass', watt: 7 }],
  'LI-PEND-EN': ['Nordlicht', '2000000001159', 1.3, 'kg', { colour: 'green', material: 'enamel', watt: 7 }],
};

/** The options in which the variants of these products can differ. */
export const options: Readonly<Record<string, readonly Option[]>> = {
  'AU-SHELF-W': [{ name: 'Finish', values: ['Oiled', 'Waxed', 'Lacquered'] }],
};

/** The stock of the products whose stock is counted. */
export const stocks: Readonly<Record<string, number>> = {
  'AU-SHELF-B': 24,
  'AU-TURN-1': 6,
  'AU-HEAD-OV': 60,
  'LI-DESK-BR': 18,
  'LI-DESK-LED': 0,
};
