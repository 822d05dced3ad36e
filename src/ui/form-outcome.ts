"use client";

import { createContext, useContext } from "react";
import type { Outcome } from "./outcome.ts";

const FormOutcome = createContext<Outcome>(null);

export const OutcomeProvider = FormOutcome.Provider;

/** The outcome of the enclosing form's last submission. */
export function useOutcome(): Outcome {
  return useContext(FormOutcome);
}
