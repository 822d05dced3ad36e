import type { AtRest } from "./at-rest.ts";
import type { Duplicates } from "./duplicates.ts";
import type { History } from "./history.ts";
import type { Locked } from "./locked.ts";
import type { Offered } from "./offered.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { Overload } from "./overload.ts";
import type { SideBySide } from "./side-by-side.ts";

/** All that a run has measured; `null` for the parts that were left out. */
export type Results = {
  sideBySide: SideBySide | null;
  history: History | null;
  duplicates: Duplicates | null;
  offered: Offered | null;
  locked: Locked | null;
  overload: Overload | null;
  oldSnapshot: OldSnapshot | null;
  atRest: AtRest | null;
};
