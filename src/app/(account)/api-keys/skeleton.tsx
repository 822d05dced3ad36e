import { Skeleton } from "../../../ui/skeleton.tsx";

export function ApiKeysSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-32" />
      <Skeleton className="mb-6 h-5 w-80 max-w-full" />
      <div className="flex flex-col gap-4">
        <Skeleton className="h-64" />
        <Skeleton className="h-80" />
      </div>
    </>
  );
}
