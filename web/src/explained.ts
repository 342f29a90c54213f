// What a finding's code means and what to do about it, in Chinese: the texts of docs/site/errors.txt, which web/build.mjs puts here.
// Findings themselves are in English, as on the command line.
import table from "cameo-errors";
import type {Language} from "./words";

export interface Explained {
  cause: string;
  cure: string;
}

export function explained(code: string, language: Language): Explained | null {
  const [cause, cure] = (language === "zh" && table[code]) || [];
  return cause ? {cause, cure: cure ?? ""} : null;
}
