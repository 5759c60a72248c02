/** Finds variables of the environment whose names are probably mistyped settings, which would be ignored silently. */
import { countTypos } from '../storage/search/text/distance.ts';
import { settings } from './index.ts';

export interface MistypedSetting {
  readonly given: string;
  readonly setting: string;
}

/** Short names differ from those of other programs by few letters: HOST and HOME. */
const getMaxTypos = (name: string): number => (name.length < 8 ? 1 : 2);

/** @param environment usually process.env, which also has the variables of other programs */
export function findMistypedSettings(
  environment: Readonly<Record<string, string | undefined>>,
): MistypedSetting[] {
  const known = Object.keys(settings);
  return Object.keys(environment).flatMap(given => {
    if (given in settings) return [];
    const setting = known.find(name => {
      const most = getMaxTypos(name);
      return countTypos(given.toUpperCase(), name, most) <= most;
    });
    return setting === undefined ? [] : [{ given, setting }];
  });
}
