"use client";

import { createContext, useContext } from "react";
import type { FormOutcome } from "./outcome.ts";

const OutcomeContext = createContext<FormOutcome>(null);

export const OutcomeProvider = OutcomeContext.Provider;

/** The outcome of the enclosing form's last submission. */
export function useOutcome(): FormOutcome {
  return useContext(OutcomeContext);
}
