/** The kinds of products that the synthetic shop sells, and how they differ. */
import { clothes } from './kinds/clothing.ts';
import { equipment } from './kinds/equipment.ts';
import { furnishings } from './kinds/furniture.ts';
import { household } from './kinds/household.ts';
import type { Kind } from './kinds/kind.ts';

export const colours = ['black', 'white', 'red', 'navy blue', 'green', 'grey', 'beige', 'yellow'] as const;
export const audiences = ["Men's", "Women's", "Kids'"] as const;

/** The order matters: the synthetic products and queries depend on it. */
export const kinds: readonly Kind[] = [...furnishings, ...clothes, ...equipment, ...household];
