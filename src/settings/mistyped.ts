/** Finds variables of the environment whose names are probably mistyped settings, which would be ignored silently. */
import { countTypos } from '../storage/search/text/distance.ts';
import { settings } from './index.ts';

export interface MistypedSetting {
  readonly given: string;
  readonly setting: string;
}

/** Words with two typos are usually others: HOST and HOME, REDIS_URL and MEDIA_URL, DATABASE_PORT and DATABASE_POOL. */
function isMistyped(given: string, setting: string): boolean {
  if (countTypos(given, setting, 1) <= 1) return true;
  const [words, known] = [given.split('_'), setting.split('_')];
  return (
    words.length === known.length && words.every((word, at) => countTypos(word, known[at] ?? '', 1) <= 1)
  );
}

/** @param environment usually process.env, which also has the variables of other programs */
export function findMistypedSettings(
  environment: Readonly<Record<string, string | undefined>>,
): MistypedSetting[] {
  // A setting that is set as well is not missing: some hosts set PORT0 beside PORT.
  const known = Object.keys(settings).filter(name => environment[name] === undefined);
  return Object.keys(environment).flatMap(given => {
    if (given in settings) return [];
    const setting = known.find(name => isMistyped(given.toUpperCase(), name));
    return setting === undefined ? [] : [{ given, setting }];
  });
}
