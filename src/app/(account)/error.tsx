"use client";

import { LoadError } from "../../ui/load-error.tsx";

export default LoadError;
