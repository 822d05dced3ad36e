import { FAULTS_BY_FOLDER } from "./by-folder.ts";
import type { Fault } from "./fault.ts";
import { FAULTS_FOUND } from "./found.ts";
import { FAULTS_OF_THE_INTAKE } from "./intake.ts";
import { FAULTS_IN_WHAT_WAS_MENDED } from "./mended.ts";
import { FAULTS_OF_THE_SPECIFICATION } from "./specification.ts";

/** By the name of their file. */
export const FAULT_LISTS: Record<string, readonly Fault[]> = {
  "by-folder": FAULTS_BY_FOLDER,
  specification: FAULTS_OF_THE_SPECIFICATION,
  found: FAULTS_FOUND,
  intake: FAULTS_OF_THE_INTAKE,
  mended: FAULTS_IN_WHAT_WAS_MENDED,
};
